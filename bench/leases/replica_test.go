package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/internal/eventually"
)

func testReplica(t *testing.T, command ...string) (r *replica, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	r = &replica{name: "program", command: command, log: filepath.Join(t.TempDir(), "log"), ended: func(err error) { ended <- err }}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.kill(context.Background()) })
	return r, ended
}

func TestAReplicaIsKilledAndStartedAgain(t *testing.T) {
	r, ended := testReplica(t, "sleep", "1000")
	first := r.process.Pid
	if err := errors.Join(r.kill(t.Context()), r.start()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(first, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the first one is there: %v", err)
	}
	if err := syscall.Kill(r.process.Pid, 0); err != nil {
		t.Errorf("the second one is not there: %v", err)
	}
	if err := r.kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Errorf("a kill was told as an end: %v", err)
	default:
	}
}

func TestAReplicaThatEndsByItselfIsTold(t *testing.T) {
	_, ended := testReplica(t, "false")
	select {
	case err := <-ended:
		if !strings.Contains(err.Error(), "program ended by itself") {
			t.Errorf("told %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("nobody was told")
	}
}

func TestAReplicaThatIsHaltedStandsStillUntilItGoesOn(t *testing.T) {
	r, _ := testReplica(t, "sh", "-c", "while :; do :; done")
	if err := r.halt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stopped, err := r.stopped(); !stopped || err != nil {
		t.Errorf("it runs: %v", err)
	}
	if err := r.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "it goes on", func() bool {
		stopped, err := r.stopped()
		return err == nil && !stopped
	})
}
