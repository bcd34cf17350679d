package forward

import (
	"context"
	"sync"
)

// tunnels are the tunnels that are open; the HTTP server no longer knows them.
type tunnels struct {
	mu     sync.Mutex
	open   map[*tunnel]struct{}
	closed bool
	wg     sync.WaitGroup
}

// run carries t to its end.
func (ts *tunnels) run(t *tunnel) {
	if !ts.add(t) {
		t.close()
		return
	}
	defer ts.remove(t)
	t.run()
}

func (ts *tunnels) add(t *tunnel) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed {
		return false
	}
	if ts.open == nil {
		ts.open = map[*tunnel]struct{}{}
	}
	ts.open[t] = struct{}{}
	ts.wg.Add(1)
	return true
}

func (ts *tunnels) remove(t *tunnel) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.open, t)
	ts.wg.Done()
}

// end waits for the tunnels until ctx ends, then closes those that are left.
func (ts *tunnels) end(ctx context.Context) {
	ts.mu.Lock()
	ts.closed = true
	ts.mu.Unlock()
	done := make(chan struct{})
	go func() {
		ts.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	ts.mu.Lock()
	for t := range ts.open {
		t.close()
	}
	ts.mu.Unlock()
	<-done
}
