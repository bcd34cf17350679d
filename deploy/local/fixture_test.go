package local_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/internal/eventually"
)

const settleTimeout = 30 * time.Second

// options are those of a stack of the test's own.
func options(t *testing.T) local.Options {
	t.Helper()
	free, err := ports.Reserve(6)
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
	o.HTTPAddress = fmt.Sprintf("127.0.0.1:%d", free.Ports[5])
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

// startElsewhere runs a stack in another process.
func startElsewhere(t *testing.T, o local.Options) *exec.Cmd {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(os.Args[0], "-test.run=^$") // #nosec G204 -- this very program; not of the test's context: it is killed by the test
	cmd.Env = append(os.Environ(), elsewhere(o, ready)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "the stack is up", func() bool { _, err := os.Stat(ready); return err == nil })
	return cmd
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
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
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
