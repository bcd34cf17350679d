package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Acquire lends the matching proxies with the fewest leases, then the lowest latency, then
// the first name. When there are too few, it waits for as long as the request says, and
// returns *NoMatchError after that. A request whose ctx ends costs nobody a slot.
func (e *Engine) Acquire(ctx context.Context, req Request) (Grant, error) {
	if err := ctx.Err(); err != nil {
		return Grant{}, fmt.Errorf("acquire a lease: %w", err)
	}
	now, err := e.begin()
	if err != nil {
		return Grant{}, err
	}
	w := newWaiter(&req, now)
	e.try(w, now)
	if !w.done && req.Wait > 0 {
		e.enqueue(w, now)
	}
	switch {
	case w.done:
	case w.line == nil:
		e.refuse(w, e.noMatchFor(w, now))
	default:
		e.await(ctx, w)
	}
	if err := e.unlockWhenKept(w.told); err != nil && !errors.Is(w.err, ErrStopped) {
		return Grant{}, err
	}
	if err := ctx.Err(); err != nil && w.err == nil {
		return Grant{}, e.giveBack(w, err)
	}
	return w.grant, w.err
}

// await lets others work until w is done, and refuses it when ctx ends before that.
func (e *Engine) await(ctx context.Context, w *waiter) {
	e.unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	e.mu.Lock()
	if !w.done {
		e.refuse(w, fmt.Errorf("wait for a proxy: %w", ctx.Err()))
	}
}

// try grants or refuses w, if that can be known now.
func (e *Engine) try(w *waiter, now moment) {
	req := w.req
	c := e.client(req.Client)
	w.client = c
	if req.Key != "" {
		g, err := e.repeated(c, req)
		switch {
		case err != nil:
			e.refuse(w, err)
			return
		case g != nil:
			w.grant = *g
			e.finishWaiter(w)
			return
		}
	}
	room, err := c.room(req.Quota, w.least)
	if err != nil {
		e.refuse(w, err)
		return
	}
	w.count = min(w.count, room)
	if err := e.afford(req.Target, w.least, now); err != nil {
		e.refuse(w, err)
		return
	}
	w.class = e.class(req.Selector, false, "")
	switch {
	case req.Session != "":
		e.trySession(w, c, now)
	case w.count > 1:
		e.tryBatch(w, now)
	default:
		if p := e.pick(w.class, req.Target, req.Exclusive); p != nil {
			e.grant(w, []*proxy{p}, now)
		}
	}
}

func (e *Engine) trySession(w *waiter, c *client, now moment) {
	p, moved := e.sessionProxy(w.req)
	w.bound, w.moved = p, moved
	switch {
	case p == nil && moved == "" && c.sessions >= maxSessions:
		e.refuse(w, &QuotaError{What: "sessions", Limit: maxSessions})
	case p == nil:
		if p = e.pick(w.class, w.req.Target, w.req.Exclusive); p != nil {
			e.grant(w, []*proxy{p}, now)
		}
	case !p.matches(w.req.Selector):
		e.refuse(w, e.noMatchFor(w, now))
	case w.fits(p):
		e.grant(w, []*proxy{p}, now)
	}
}

// grant lends proxies, each of which has room, and wakes w.
func (e *Engine) grant(w *waiter, proxies []*proxy, now moment) {
	var records []*record
	w.grant.Leases = make([]Lease, len(proxies))
	for i, p := range proxies {
		r := e.lend(p, w.req, now)
		e.bind(p, r)
		w.grant.Leases[i] = r.lease(r.ttl, r.grantedAt.Add(r.ttl))
		if w.req.Key != "" {
			records = append(records, r)
		}
	}
	w.grant.Moved = w.moved
	w.grant.Waited = now - w.since
	e.remember(w.req, records, w.moved)
	e.finishWaiter(w)
}

// noMatchFor says why w cannot be granted.
func (e *Engine) noMatchFor(w *waiter, now moment) *NoMatchError {
	if w.bound == nil {
		return e.noMatch(w.class, w.req.Target, now)
	}
	none := &NoMatchError{SessionProxy: w.bound.Key}
	if w.bound.matches(w.req.Selector) {
		none.Considered, none.AtCapacity, none.RetryAfter = 1, 1, time.Second
	}
	return none
}
