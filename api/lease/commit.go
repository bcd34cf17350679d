package lease

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

const (
	// crowd is how many changes of a group tell that many ask at the same time.
	crowd = 32
	// full is how many changes of a crowd share a group: while the disk is written, a processor
	// is kept from those who ask. It is written sooner when nobody has joined for patience times
	// as long as that takes, and after maxGather.
	full      = 96
	patience  = 2
	maxGather = 5 * time.Millisecond
)

// group is changes that are kept together. Requests that come while one is written share
// the next.
type group struct {
	changes []Change
	// few are the first changes; most groups of a quiet engine have no more.
	few [4]Change
	// filled is closed when there are full changes.
	filled chan struct{}
	// under way until err is known.
	under sync.WaitGroup
	err   error
}

func newGroup() *group {
	g := &group{filled: make(chan struct{})}
	g.changes = g.few[:0]
	g.under.Add(1)
	return g
}

// change has c kept with the group that is open.
func (e *Engine) change(c Change) {
	g := e.open
	if g.changes = append(g.changes, c); len(g.changes) == full {
		close(g.filled)
	}
}

// unlock lets the next operation in, and has what is open kept soon.
func (e *Engine) unlock() {
	if len(e.open.changes) > 0 && e.committing == nil {
		select {
		case e.dirty <- struct{}{}:
		default: // it is known already
		}
	}
	e.mu.Unlock()
}

// unlockWhenKept unlocks e and returns when g is kept. If nobody writes and few ask, the
// caller does so at once: to have another goroutine do it takes longer than most journals do.
func (e *Engine) unlockWhenKept(g *group) error {
	if g == e.open && e.committing == nil && e.pause == 0 {
		e.mu.Unlock()
		runtime.Gosched() // whoever is about to change something joins
		e.mu.Lock()
		if g == e.open && e.committing == nil {
			e.commitOpen()
		}
	}
	e.unlock()
	return e.kept(g)
}

// gather lets more join the open group, if many ask.
func (e *Engine) gather() {
	end := time.Now().Add(maxGather)
	for before := -1; ; {
		e.mu.Lock()
		g, n, pause := e.open, len(e.open.changes), e.pause
		e.mu.Unlock()
		if pause == 0 || n == before || !time.Now().Before(end) {
			return
		}
		before = n
		next := time.NewTimer(pause)
		select {
		case <-g.filled:
			next.Stop()
			return
		case <-next.C:
		}
	}
}

// barrier is the group after which all that is in memory now is kept, nil if it is.
func (e *Engine) barrier() *group {
	if len(e.open.changes) > 0 {
		return e.open
	}
	return e.committing
}

// kept waits until g is kept. What is answered without a commit of its own is only true
// if nobody else can have written in the meantime.
func (e *Engine) kept(g *group) error {
	var err error
	if g == nil {
		err = e.journal.Held()
	} else {
		g.under.Wait()
		err = g.err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// commitGroups writes one group after the other until the engine stops, and then the one
// that is open.
func (e *Engine) commitGroups() {
	for {
		select {
		case <-e.dirty:
			e.gather()
			e.commit()
		case <-e.ended:
			e.commit()
			return
		}
	}
}

// commit writes the open group, after the one that somebody writes.
func (e *Engine) commit() {
	e.mu.Lock()
	for e.committing != nil {
		g := e.committing
		e.mu.Unlock()
		g.under.Wait()
		e.mu.Lock()
	}
	e.commitOpen()
	e.unlock()
}

// commitOpen writes the open group, and is unlocked meanwhile. An engine whose group failed
// is ahead of its journal: it must not answer any more.
func (e *Engine) commitOpen() {
	g := e.open
	if len(g.changes) == 0 {
		return
	}
	e.open, e.committing = newGroup(), g
	failed := e.err
	crowded, start := len(g.changes) >= crowd, time.Now()
	g.changes = append(g.changes, e.timeChange())
	e.mu.Unlock()

	if failed == nil || errors.Is(failed, ErrStopped) {
		// The journal has deadlines of its own: a group that is given up halfway is a failure
		// for all.
		failed = e.journal.Commit(context.Background(), g.changes)
	}

	e.mu.Lock()
	g.err, e.committing, e.pause = failed, nil, 0
	if crowded {
		e.pause = patience * time.Since(start)
	}
	if failed != nil {
		e.stop(failed)
	}
	g.under.Done()
}
