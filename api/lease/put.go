package lease

import (
	"maps"
	"slices"
	"time"
)

// Sync makes candidates the whole fleet. The first one opens the engine for requests.
func (e *Engine) Sync(candidates []Candidate) {
	e.mu.Lock()
	defer e.unlock()
	if e.err != nil {
		return
	}
	if !e.synced {
		e.synced, e.started = true, e.Clock.Now()
	}
	now := e.settle()
	there := make(map[string]bool, len(candidates))
	for _, c := range candidates {
		there[c.UID] = true
		e.put(c, now)
	}
	for uid, p := range e.fleet.proxies {
		switch {
		case p.doubt != nil:
			e.beginGrace(p.doubt, now)
		case !there[uid]:
			e.leave(p, now)
		}
	}
	select {
	case e.wake <- struct{}{}: // time goes on from here
	default:
	}
}

// Put adds a proxy to the fleet, or says how it is now.
func (e *Engine) Put(c Candidate) {
	e.mu.Lock()
	defer e.unlock()
	if e.err == nil {
		e.put(c, e.settle())
	}
}

// Remove takes a proxy out of the fleet and ends its leases.
func (e *Engine) Remove(uid string) {
	e.mu.Lock()
	defer e.unlock()
	if p := e.fleet.proxies[uid]; p != nil && e.err == nil {
		e.leave(p, e.settle())
	}
}

// SetAside has proxies not lent for d, though they are healthy.
func (e *Engine) SetAside(uids []string, d time.Duration) {
	e.mu.Lock()
	defer e.unlock()
	if e.err != nil {
		return
	}
	now := e.settle()
	for _, uid := range uids {
		if p := e.fleet.proxies[uid]; p != nil {
			e.touch(p, func() { e.set(&p.aside, now+d) })
			e.reconsider(p, now)
		}
	}
}

// ring is the end of having been set aside. The alarm is off by now, which is what p
// counted by.
func (p *proxy) ring(e *Engine, now moment) {
	e.set(&p.aside, now)
	e.touch(p, func() { e.unset(&p.aside) })
	e.offer(p, now)
}

func (e *Engine) put(c Candidate, now moment) {
	p := e.fleet.proxies[c.UID]
	switch {
	case p == nil:
	case c.Version != 0 && c.Version < p.Version:
		p.doubt.take(c)
		return
	case c.Host == "":
		// Nobody can use it, but it may get the same address again, with all that banned it.
		e.endLeases(p, now)
		c.Scheme, c.Host, c.Port, c.Healthy = p.Scheme, p.Host, p.Port, false
	case !p.sameAddress(c):
		e.leave(p, now) // bans were the old address's, and so were the leases
		p = nil
	}
	if p == nil {
		p = newProxy(Candidate{UID: c.UID})
	}
	e.trust(p)
	was := p.Candidate
	// The classes are those of its attributes: it leaves the old ones as what it was.
	e.touch(p, func() {
		e.fleet.remove(p)
		p.Candidate, p.lent = c, nil
		e.fleet.add(p)
	})
	if !p.lendable() || c.MaxLeases < was.MaxLeases || !maps.Equal(was.Attributes, c.Attributes) {
		e.reconsider(p, now)
	}
	if p.Draining != was.Draining || p.Bans != was.Bans {
		e.noticeIfDrained(p)
		e.noticeIfBanned(p, now)
	}
	e.offer(p, now)
}

// reconsider lets go what counted on p as it was.
func (e *Engine) reconsider(p *proxy, now moment) {
	e.unreserve(p, now)
	e.rebind(p, forAny, now)
}

// leave ends whatever belongs to p, and forgets p.
func (e *Engine) leave(p *proxy, now moment) {
	e.touch(p, func() { p.Healthy = false })
	e.endLeases(p, now)
	for _, c := range p.cooldowns {
		e.forgetCooldown(c)
	}
	if len(p.bans) > 0 {
		p.bans = nil
		e.change(p.bansChange())
	}
	e.unset(&p.aside)
	e.trust(p)
	e.touch(p, func() { e.fleet.remove(p) })
	e.notices.forget(p.UID)
	e.reconsider(p, now)
}

// endLeases ends p's leases, the oldest first, so that a fleet that is told twice ends them
// in the same order.
func (e *Engine) endLeases(p *proxy, now moment) {
	leases := make([]*record, 0, len(p.leases))
	for r := range p.leases {
		leases = append(leases, r)
	}
	slices.SortFunc(leases, (*record).older)
	for _, r := range leases {
		e.end(r, ErrProxyGone, now)
	}
}
