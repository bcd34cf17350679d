package lease_test

import (
	"context"
	"errors"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// call is a request under way.
type call struct {
	w      *world
	cancel context.CancelFunc
	done   chan struct{}
	grant  lease.Grant
	err    error
}

// wait starts a request that has to wait, and returns when it does.
func (w *world) wait(edit ...func(*lease.Request)) *call {
	w.t.Helper()
	_, before := w.Totals()
	c := w.start(append([]func(*lease.Request){waiting(time.Minute)}, edit...)...)
	eventually.Until(w.t, "the request waits", func() bool {
		select {
		case <-c.done:
			w.t.Fatalf("it does not wait: granted %v, error %v", keysOf(c.grant), c.err)
		default:
		}
		_, now := w.Totals()
		return now == before+1
	})
	return c
}

func (w *world) start(edit ...func(*lease.Request)) *call {
	ctx, cancel := context.WithCancel(w.t.Context())
	c := &call{w: w, cancel: cancel, done: make(chan struct{})}
	e, req := w.Engine, request(edit...)
	go func() {
		defer close(c.done)
		defer cancel()
		c.grant, c.err = e.Acquire(ctx, req)
	}()
	return c
}

func (c *call) end() {
	c.w.t.Helper()
	eventually.Until(c.w.t, "the request has its answer", func() bool {
		select {
		case <-c.done:
			return true
		default:
			return false
		}
	})
}

// granted returns what the request got, and fails the test when that was nothing.
func (c *call) granted() lease.Grant {
	c.w.t.Helper()
	c.end()
	if c.err != nil {
		c.w.t.Fatalf("the waiting request was refused: %v", c.err)
	}
	return c.grant
}

func (c *call) refused(want error) {
	c.w.t.Helper()
	c.end()
	if !errors.Is(c.err, want) {
		c.w.t.Fatalf("granted %v, error %v; want %v", keysOf(c.grant), c.err, want)
	}
}

// waits fails the test unless the request has no answer yet.
func (c *call) waits() {
	c.w.t.Helper()
	select {
	case <-c.done:
		c.w.t.Fatalf("it waits no more: granted %v, error %v", keysOf(c.grant), c.err)
	default:
	}
}
