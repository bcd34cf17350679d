package local_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/internal/eventually"
)

func TestObjectsSurvive(t *testing.T) {
	o := options(t)
	s := start(t, o)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	kept, err := configMaps(t, s).Create(t.Context(), kept, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	survived := func(t *testing.T) {
		again, err := configMaps(t, s).Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil || again.UID != kept.UID {
			t.Errorf("the object is %v (%v), want UID %s", again, err, kept.UID)
		}
	}
	t.Run("stop and start", func(t *testing.T) {
		stop(t, s)
		nothingRuns(t, o.StateDir)
		s = start(t, o)
		survived(t)
	})
	t.Run("kill of etcd and the API server", func(t *testing.T) {
		for _, name := range []string{"etcd", "kube-apiserver"} {
			if err := syscall.Kill(pidOf(t, o.StateDir, name), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		<-s.Done()
		stop(t, s)
		s = start(t, o)
		survived(t)
	})
	t.Run("kill of the whole stack", func(t *testing.T) {
		stop(t, s)
		killed := startElsewhere(t, o)
		if err := killed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.Wait() // the kill is its error
		s = start(t, o)
		survived(t)
	})
	stop(t, s)
}

func TestAddressesAnswer(t *testing.T) {
	s := start(t, options(t))
	defer stop(t, s)
	if got := fetch(t, s.EchoURL); got != "127.0.0.1\n" {
		t.Errorf("the echo target answers %q", got)
	}
	if got := fetch(t, s.UIAddress); !strings.Contains(got, "<html") {
		t.Errorf("the Temporal UI answers %q", got)
	}
	info, err := os.Stat(s.Kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig is %v (%v), want mode 0600", info, err)
	}
}

func TestNamespaceWithObjectsIsDeleted(t *testing.T) {
	s := start(t, options(t))
	defer stop(t, s)
	clients, err := kubernetes.NewForConfig(s.RESTConfig)
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
	if _, err := clients.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}
	if _, err := clients.CoreV1().ConfigMaps(ns.Name).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := clients.CoreV1().Namespaces().Delete(t.Context(), ns.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "the namespace is gone", func() bool {
		_, err := clients.CoreV1().Namespaces().Get(t.Context(), ns.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestSecondStartSaysWhoRuns(t *testing.T) {
	o := options(t)
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
		"HTTP API http://" + o.HTTPAddress,
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

func TestTakenAddressFailsTheStartAndLeavesNothing(t *testing.T) {
	o := options(t)
	for flag, address := range map[string]string{
		"--temporal-ui-port": fmt.Sprintf("127.0.0.1:%d", o.Ports.TemporalUI),
		"--http-address":     o.HTTPAddress,
	} {
		t.Run(flag, func(t *testing.T) {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			_, err = local.Start(t.Context(), o)
			var taken *ports.TakenError
			if !errors.As(err, &taken) || taken.Flag != flag || taken.Holder == nil || taken.Holder.PID != os.Getpid() {
				t.Errorf("start with a taken address gave %v", err)
			}
			nothingRuns(t, o.StateDir)
		})
	}
}

func TestAddressGivenTwiceNamesBothFlags(t *testing.T) {
	o := options(t)
	o.HTTPAddress = fmt.Sprintf("127.0.0.1:%d", o.Ports.Echo)
	_, err := local.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "--echo-port or --http-address") {
		t.Errorf("start gave %v", err)
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
