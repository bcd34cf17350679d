package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
)

const settleTimeout = 30 * time.Second

// options are those of a stack of the test's own.
func options(t *testing.T) local.Options {
	t.Helper()
	free, err := ports.Reserve(5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	o := local.Options{
		StateDir: t.TempDir(),
		BinDir:   localtest.Dir(t),
		Progress: progress(t),
	}
	for i, f := range o.Ports.Flags() {
		*f.Value = free.Ports[i]
	}
	return o
}

// progress logs with the time since the start.
func progress(t *testing.T) func(string) {
	began := time.Now()
	var mu sync.Mutex
	return func(message string) {
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%5.1f s  %s", time.Since(began).Seconds(), message)
	}
}

func start(t *testing.T, o local.Options) *local.Stack {
	t.Helper()
	began := time.Now()
	s, err := local.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("up after %.1f s", time.Since(began).Seconds())
	return s
}

func stop(t *testing.T, s *local.Stack) {
	t.Helper()
	began := time.Now()
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	t.Logf("down after %.1f s", time.Since(began).Seconds())
}

// child gives the pid of a child, read from the state directory.
func pidOf(t *testing.T, stateDir, name string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(stateDir, "run", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscanf(string(data), `{"pid":%d`, &pid); err != nil {
		t.Fatalf("record of %s is %s: %v", name, data, err)
	}
	return pid
}

func configMaps(t *testing.T, s *local.Stack) interface {
	Create(context.Context, *corev1.ConfigMap, metav1.CreateOptions) (*corev1.ConfigMap, error)
	Get(context.Context, string, metav1.GetOptions) (*corev1.ConfigMap, error)
} {
	t.Helper()
	clients, err := kubernetes.NewForConfig(s.RESTConfig)
	if err != nil {
		t.Fatal(err)
	}
	return clients.CoreV1().ConfigMaps(metav1.NamespaceDefault)
}

func TestStackKeepsItsStateThroughARestart(t *testing.T) {
	o := options(t)
	first := start(t, o)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	kept, err := configMaps(t, first).Create(t.Context(), kept, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, first.EchoURL); got != "127.0.0.1\n" {
		t.Errorf("the echo target answers %q", got)
	}
	if got := fetch(t, first.UIAddress); !strings.Contains(got, "<html") {
		t.Errorf("the Temporal UI answers %q", got)
	}
	stop(t, first)
	nothingRuns(t, o.StateDir)

	second := start(t, o)
	defer stop(t, second)
	again, err := configMaps(t, second).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || again.UID != kept.UID {
		t.Errorf("after the restart the object is %v (%v), want UID %s", again, err, kept.UID)
	}
}

func TestSecondStartSaysWhoRuns(t *testing.T) {
	o := options(t)
	o.HTTPAddress = "127.0.0.1:8090"
	s := start(t, o)
	defer stop(t, s)
	_, err := local.Start(t.Context(), o)
	var running *local.AlreadyRunningError
	if !errors.As(err, &running) {
		t.Fatalf("second start gave %v", err)
	}
	for _, want := range []string{
		fmt.Sprintf("pid %d since 20", os.Getpid()),
		fmt.Sprintf("Kubernetes API https://127.0.0.1:%d", o.Ports.Kubernetes),
		"HTTP API http://127.0.0.1:8090",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestDeathOfAPartIsReported(t *testing.T) {
	o := options(t)
	s := start(t, o)
	if err := syscall.Kill(pidOf(t, o.StateDir, "etcd"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done():
	case <-time.After(settleTimeout):
		t.Fatal("the stack did not notice")
	}
	var exit *child.ExitError
	if !errors.As(s.Err(), &exit) {
		t.Fatalf("the stack reports %v", s.Err())
	}
	if exit.Name != "etcd" || exit.LogFile != filepath.Join(o.StateDir, "log", "etcd.log") || len(exit.Tail) == 0 {
		t.Errorf("the stack reports %+v", exit)
	}
	stop(t, s)
	nothingRuns(t, o.StateDir)
}

func TestTakenPortFailsTheStartAndLeavesNothing(t *testing.T) {
	o := options(t)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.Ports.TemporalUI))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = local.Start(t.Context(), o)
	var taken *ports.TakenError
	if !errors.As(err, &taken) || taken.Flag != "--temporal-ui-port" || taken.Holder == nil || taken.Holder.PID != os.Getpid() {
		t.Errorf("start with a taken port gave %v", err)
	}
	nothingRuns(t, o.StateDir)
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	o := options(t)
	o.Clean = true
	file := filepath.Join(o.StateDir, "thesis.txt")
	if err := os.WriteFile(file, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("start in a directory of other files gave %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestCleanAsksFirstAndKeepsAllWhenRefused(t *testing.T) {
	o := options(t)
	stop(t, start(t, o))
	refusal := errors.New("instances still run")
	o.Clean, o.BeforeClean = true, func(context.Context) error { return refusal }
	if _, err := local.Start(t.Context(), o); !errors.Is(err, refusal) {
		t.Fatalf("start gave %v, want the refusal", err)
	}
	if _, err := os.Stat(filepath.Join(o.StateDir, "etcd")); err != nil {
		t.Errorf("state was removed: %v", err)
	}
}

// nothingRuns fails the test when a child is recorded, or any process has the
// state directory in its command line.
func nothingRuns(t *testing.T, stateDir string) {
	t.Helper()
	if records, _ := filepath.Glob(filepath.Join(stateDir, "run", "*.json")); len(records) > 0 {
		t.Errorf("records of children are left: %v", records)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), stateDir) {
			t.Errorf("a process is left: %s", strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	return fetchWith(t, http.DefaultClient, url)
}

func fetchWith(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
