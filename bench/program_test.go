package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"example.com/fairlead/deploy/local/child"
)

// program is the fairlead binary, built by the first benchmark that runs it.
var program struct {
	once sync.Once
	dir  string
	err  error
}

// fairlead is the path of the program, as `make build` makes it.
func fairlead(tb testing.TB) string {
	tb.Helper()
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "fairlead-bench-"); program.err != nil {
			return
		}
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program.dir, "example.com/fairlead")
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if program.err != nil {
		tb.Fatalf("build fairlead: %v", program.err)
	}
	return filepath.Join(program.dir, "fairlead")
}

func removeProgram() error {
	if program.dir == "" {
		return nil
	}
	return os.RemoveAll(program.dir)
}

// running is a program that was started.
type running struct {
	*child.Process
	group *child.Group
}

// start runs a program until it is stopped, at the latest when the benchmark ends.
func (w *world) start(name string, command []string) *running {
	w.tb.Helper()
	group, err := child.NewGroup(w.tb.TempDir())
	w.must("start "+name, err)
	p, err := group.Start(child.Spec{Name: name, Command: command})
	w.must("start "+name, err)
	r := &running{Process: p, group: group}
	w.tb.Cleanup(func() {
		if err := r.stop(); err != nil {
			w.tb.Errorf("stop %s: %v", name, err)
		}
	})
	return r
}

// stop asks the program to end, and waits for it.
func (r *running) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return r.group.Stop(ctx)
}
