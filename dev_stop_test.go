package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/internal/eventually"
)

// children are the pids of the parts that run for this stack, by name.
func (s *stack) children() map[string]int {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "run", "*.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	pids := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file) // #nosec G304 -- of the test
		if err != nil {
			s.t.Fatal(err)
		}
		var child struct{ PID int }
		if err := json.Unmarshal(data, &child); err != nil {
			s.t.Fatal(err)
		}
		pids[strings.TrimSuffix(filepath.Base(file), ".json")] = child.PID
	}
	return pids
}

func (s *stack) interrupt() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
}

// TestSecondInterruptEndsTheStackAtOnce stops a stack of which a part does not end.
func TestSecondInterruptEndsTheStackAtOnce(t *testing.T) {
	s := newStack(t)
	s.start()
	children := s.children()
	stuck := children["kube-controller-manager"]
	if err := syscall.Kill(stuck, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.interrupt()
	s.out.says(t, "Ctrl-C again ends it at once")
	s.interrupt()
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		t.Errorf("fairlead dev has not ended\n%s", s.out)
	}
	if err := syscall.Kill(stuck, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually.Sees(t, "no part is left", downTimeout, func() (bool, string) {
		for name, pid := range children {
			if syscall.Kill(pid, 0) == nil {
				return false, name
			}
		}
		return true, ""
	})
}

// TestWhoeverWatchesDoesNotHoldUpTheEnd: a forgotten `kubectl get -w` is no reason for an
// API server to be waited for, nor for an error.
func TestWhoeverWatchesDoesNotHoldUpTheEnd(t *testing.T) {
	s := newStack(t)
	s.start()
	w := s.watchProxies()
	defer w.Stop()
	s.stop()
}
