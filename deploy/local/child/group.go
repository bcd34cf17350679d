// Package child runs the programs of the local stack as children that never
// outlive it; what the programs are is not its concern.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Group is a set of children that stand or fall together.
type Group struct {
	runDir string
	logDir string
	failed chan struct{}
	watch  sync.WaitGroup

	mu       sync.Mutex
	children []*Process // in the order of their start
	stopping bool
	err      error
}

// NewGroup makes an empty group that keeps its records under dir/run and its
// logs under dir/log.
func NewGroup(dir string) (*Group, error) {
	g := &Group{
		runDir: filepath.Join(dir, "run"),
		logDir: filepath.Join(dir, "log"),
		failed: make(chan struct{}),
	}
	for _, d := range []string{g.runDir, g.logDir} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			return nil, fmt.Errorf("make directory for child processes: %w", err)
		}
	}
	return g, nil
}

// Start runs a child. Should it end before Stop is called, the group fails.
func (g *Group) Start(spec Spec) (*Process, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopping {
		return nil, fmt.Errorf("start %s: the stack is stopping", spec.Name)
	}
	p, err := g.launch(spec)
	if err != nil {
		return nil, err
	}
	g.children = append(g.children, p)
	g.watch.Go(func() { g.observe(p) })
	return p, nil
}

// observe waits for a child and fails the group unless the end was wanted.
func (g *Group) observe(p *Process) {
	<-p.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = os.Remove(p.record) // a stale record names a dead process, which is harmless
	if g.stopping || g.err != nil {
		return
	}
	g.err = p.Exit()
	close(g.failed)
}

// Done is closed when a child ended that nobody stopped.
func (g *Group) Done() <-chan struct{} { return g.failed }

// Err says which child ended and why, once Done is closed.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Stop ends the children, the last one started first, each before the next; once
// one has failed, all at the same time. When ctx ends, the remaining ones are
// killed. No child is left when it returns.
func (g *Group) Stop(ctx context.Context) error {
	g.mu.Lock()
	g.stopping = true
	children, failed := g.children, g.err != nil
	g.mu.Unlock()

	defer g.watch.Wait()
	if failed {
		return stopFailed(ctx, children)
	}
	var errs []error
	for _, p := range slices.Backward(children) {
		errs = append(errs, p.stop(ctx, p.grace))
	}
	return errors.Join(errs...)
}

// stopFailed ends what is left of a group. There is no order to keep any more, and
// that a child hangs on the failed one is no second failure.
func stopFailed(ctx context.Context, children []*Process) error {
	errs := make([]error, len(children))
	var stops sync.WaitGroup
	for i, p := range children {
		stops.Go(func() {
			if err := p.stop(ctx, min(p.grace, failedGrace)); !errors.Is(err, errKilled) {
				errs[i] = err
			}
		})
	}
	stops.Wait()
	return errors.Join(errs...)
}
