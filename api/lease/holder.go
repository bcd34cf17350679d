package lease

import (
	"context"
	"time"
)

// Holder says whether the caller may see or change the leases of a client.
type Holder func(client string) bool

// held returns a lease that may is true for. One of somebody else looks like one that does
// not exist.
func (e *Engine) held(id string, may Holder) (*record, error) {
	r := e.leases[id]
	if r == nil || !may(r.client) {
		return nil, ErrUnknown
	}
	return r, nil
}

// Release ends a lease. Releasing it again, or one that never was, is no error.
func (e *Engine) Release(_ context.Context, id string, may Holder) error {
	now, err := e.begin()
	if err != nil {
		return err
	}
	if r, err := e.held(id, may); err == nil {
		e.release(r, now)
	}
	return e.finish()
}

// release forgets r: whoever gives a lease back has no more to say of it.
func (e *Engine) release(r *record, now moment) {
	if r.ended != nil {
		e.forget(r)
		return
	}
	e.drop(r, now)
	if p := e.fleet.proxies[r.proxy.UID]; p != nil {
		e.offer(p, now)
	}
}

// drop forgets r, which is active. The slot is the caller's to offer.
func (e *Engine) drop(r *record, now moment) {
	e.over(r, now)
	r.ended = ErrUnknown
	e.forget(r)
}

// Renew lets an active lease last ttl from now, or its own TTL when ttl is 0; one that
// lasts longer stays as it is. A lease that is over stays over: its slot may be somebody else's.
func (e *Engine) Renew(_ context.Context, id string, may Holder, ttl time.Duration) (Renewal, error) {
	now, err := e.begin()
	if err != nil {
		return Renewal{}, err
	}
	told, err := e.renew(id, may, ttl, now)
	if kept := e.finish(); kept != nil {
		return Renewal{}, kept
	}
	return told, err
}

func (e *Engine) renew(id string, may Holder, ttl time.Duration, now moment) (Renewal, error) {
	r, err := e.held(id, may)
	if err != nil {
		return Renewal{}, err
	}
	if r.ended != nil {
		return Renewal{}, r.ended
	}
	if ttl == 0 {
		ttl = r.ttl
	}
	if until := now + ttl; until > r.expires {
		r.ttl, r.expires = ttl, until
		e.set(&r.alarm, until)
		e.change(r.change())
	}
	told := Renewal{Lease: e.tell(r)}
	if p := e.fleet.proxies[r.proxy.UID]; p != nil {
		told.Healthy, told.Draining = p.Healthy, p.Draining
	}
	return told, nil
}
