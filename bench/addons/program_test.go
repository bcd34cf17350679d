package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fairlead/bench/internal/dice"
	"example.com/fairlead/internal/eventually"
)

func newProgram(t *testing.T, script string) *program {
	t.Helper()
	return &program{
		name: "it", command: []string{"/bin/sh", "-c", script}, log: filepath.Join(t.TempDir(), "log"), pauses: dice.New(1, "pauses"),
		ended: func(err error) { t.Errorf("it was told: %v", err) },
	}
}

func TestAProgramThatWasKilledIsStartedAgain(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	p := newProgram(t, "echo begins; exec tail -f /dev/null")
	p.start(ctx)
	starts := func(n int) func() bool {
		return func() bool {
			data, err := os.ReadFile(p.log)
			return err == nil && strings.Count(string(data), "begins") == n
		}
	}
	eventually.Until(t, "it runs", starts(1))
	p.kill()
	eventually.Until(t, "it runs again", starts(2))
	end()
	p.wait()
}

func TestAProgramThatEndsByItselfIsTold(t *testing.T) {
	told := make(chan error, 1)
	p := newProgram(t, "exit 3")
	p.ended = func(err error) { told <- err }
	p.start(t.Context())
	p.wait()
	if err := <-told; !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("told: %v", err)
	}
}
