package lease

import (
	"context"
	"errors"
	"fmt"
)

// group is changes that are kept together. Requests that come while one is written share
// the next.
type group struct {
	changes []Change
	// done is closed when err is known.
	done chan struct{}
	err  error
}

func newGroup() *group { return &group{done: make(chan struct{})} }

// change has c kept with the group that is open.
func (e *Engine) change(c Change) {
	e.open.changes = append(e.open.changes, c)
	if len(e.open.changes) > 1 {
		return
	}
	select {
	case e.dirty <- struct{}{}:
	default: // it is known already
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
		<-g.done
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
			e.commit()
		case <-e.ended:
			e.commit()
			return
		}
	}
}

// commit writes the open group. An engine whose group failed is ahead of its journal:
// it must not answer any more.
func (e *Engine) commit() {
	e.mu.Lock()
	g := e.open
	if len(g.changes) == 0 {
		e.mu.Unlock()
		return
	}
	e.open, e.committing = newGroup(), g
	failed := e.err
	g.changes = append(g.changes, e.timeChange())
	e.mu.Unlock()

	if failed == nil || errors.Is(failed, ErrStopped) {
		// The journal has deadlines of its own: a group that is given up halfway is a failure
		// for all.
		failed = e.journal.Commit(context.Background(), g.changes)
	}

	e.mu.Lock()
	g.err, e.committing = failed, nil
	if failed != nil {
		e.stop(failed)
	}
	e.mu.Unlock()
	close(g.done)
}
