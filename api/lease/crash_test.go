package lease_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// TestCrashes takes the journal from an engine under load again and again. The next engine
// has all that was told, and nothing that was told to be over.
func TestCrashes(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(40)), candidate("b", maxLeases(40)), candidate("c", maxLeases(40)))
	told := &ledger{has: map[string]bool{}, over: map[string]bool{}}
	for n := range 20 {
		var all sync.WaitGroup
		for client := range 16 {
			all.Go(func() { told.work(t.Context(), w.Engine, fmt.Sprint("client ", client)) })
		}
		before := told.grants.Load()
		eventually.Until(t, "there is load", func() bool { return told.grants.Load() > before+100 })
		w.journal.take()
		all.Wait()
		w.restart(0)
		w.same("contradictions", []string(nil), w.Inconsistencies())
		now := map[string]bool{}
		for _, l := range w.list() {
			now[l.ID] = true
			if told.over[l.ID] {
				t.Errorf("crash %d: %s was given back, and is there", n, l.ID)
			}
		}
		for id := range told.has {
			if !now[id] {
				t.Errorf("crash %d: %s was told, and is lost", n, id)
			}
		}
		for id := range now { // what is in doubt is given back as well
			w.release(id)
			told.over[id] = true
		}
		clear(told.has)
	}
}

// ledger is what clients were told.
type ledger struct {
	mu        sync.Mutex
	has, over map[string]bool
	grants    atomic.Int64
}

// work borrows and gives back until the engine fails. A lease whose return fails is in
// doubt, and in neither column.
func (b *ledger) work(ctx context.Context, e *lease.Engine, client string) {
	for n := 0; ; n++ {
		req := request(by(client), ttl(time.Hour))
		if n%3 == 0 {
			req.Count, req.AtLeast = 3, 1
		}
		g, err := e.Acquire(ctx, req)
		if err != nil {
			return
		}
		b.grants.Add(1)
		b.note(b.has, true, g.Leases...)
		keep := 0
		if n%40 == 0 {
			keep = 1
		}
		for _, l := range g.Leases[keep:] {
			b.note(b.has, false, l)
			if e.Release(ctx, l.ID, anybody) != nil {
				return
			}
			b.note(b.over, true, l)
		}
	}
}

func (b *ledger) note(column map[string]bool, there bool, leases ...lease.Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range leases {
		if there {
			column[l.ID] = true
		} else {
			delete(column, l.ID)
		}
	}
}
