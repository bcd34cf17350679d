package lease

import "slices"

// tryBatch answers w if there is enough for it, which it returns, and takes nothing if there
// is not.
func (e *Engine) tryBatch(w *waiter, now moment) bool {
	e.fill(w)
	if len(w.reserved) < w.least {
		e.letGo(w)
		return false
	}
	e.grantReserved(w, now)
	return true
}

// fill reserves free slots for w until it has all that it asks for.
func (e *Engine) fill(w *waiter) {
	for len(w.reserved) < w.count {
		p := e.pick(w.class, w.req.Target, w.req.Exclusive)
		if p == nil {
			return
		}
		e.reserve(w, p)
	}
}

func (e *Engine) reserve(w *waiter, p *proxy) {
	w.reserved = append(w.reserved, p)
	e.touch(p, func() {
		p.reserved = append(p.reserved, w)
		p.exclusive = w.req.Exclusive
		e.restForTrial(p, w.req.Target)
	})
}

func (e *Engine) unreserveOne(w *waiter, p *proxy) {
	e.touch(p, func() {
		i := slices.Index(p.reserved, w)
		p.reserved = slices.Delete(p.reserved, i, i+1)
		if w.req.Exclusive {
			p.exclusive = false
		}
		e.restForTrial(p, w.req.Target)
	})
}

// letGo gives up what w has reserved, and returns it.
func (e *Engine) letGo(w *waiter) []*proxy {
	free := w.reserved
	w.reserved = nil
	for _, p := range free {
		e.unreserveOne(w, p)
	}
	return free
}

// grantReserved lends what is reserved for w, as far as the budget goes.
func (e *Engine) grantReserved(w *waiter, now moment) {
	proxies := e.letGo(w)
	n := len(proxies)
	err := e.afford(w.req.Target, n, now)
	for ; err != nil && n > w.least; err = e.afford(w.req.Target, n, now) {
		n--
	}
	if err != nil {
		n = 0
		e.refuse(w, err)
	} else {
		e.grant(w, proxies[:n], now)
	}
	e.offerAll(proxies[n:], now)
}

// unreserve gives up what is reserved of p, which may not be lendable any more. Those who
// lose it may find another one.
func (e *Engine) unreserve(p *proxy, now moment) {
	for _, w := range slices.Clone(p.reserved) {
		if w.done {
			continue
		}
		w.reserved = slices.DeleteFunc(w.reserved, func(o *proxy) bool { return o == p })
		for slices.Contains(p.reserved, w) {
			e.unreserveOne(w, p)
		}
		e.fillReserving(w, now)
	}
	e.offer(p, now)
}

// passBy grants a batch that stands behind the reserving one of its line, if p makes enough
// slots free that the other cannot have: it may be for a target that they rest for. It says
// whether it has.
func (e *Engine) passBy(p *proxy, now moment) bool {
	for _, c := range slices.Clone(p.classes) { // looking may make classes, and drop others
		if c.own || c.waiting.reserving == nil {
			continue
		}
		for _, a := range c.waiting.batches {
			if w := e.passing(a, p); w != nil && e.tryBatch(w, now) {
				return true
			}
		}
	}
	return false
}

// passing is the first of a lane that has enough slots, now that p has some; nil if none has.
func (e *Engine) passing(a *lane, p *proxy) (next *waiter) {
	a.fronts.Scan(func(w *waiter) bool {
		switch {
		case w == w.class.waiting.reserving || p.rests(w.req.Target):
			return true
		case w.fits(p) && e.hasRoom(w):
			next = w
			return false
		}
		// Where none rests for a target, others have no more room.
		return e.targets[w.req.Target] != nil
	})
	return next
}

// hasRoom says whether as many slots are free as w needs.
func (e *Engine) hasRoom(w *waiter) bool {
	c, n := w.class, w.least
	if t := e.targets[w.req.Target]; t != nil && len(t.resting) > maxSkips {
		c = e.class(c.selector, true, t.name)
	}
	c.free.Scan(func(s slot) bool {
		if w.req.Exclusive && s.load > 0 {
			return false
		}
		n -= w.slotsOf(s.proxy)
		return n > 0
	})
	return n <= 0
}

// slotsOf is how many slots of p, which can be lent, w may have.
func (w *waiter) slotsOf(p *proxy) int {
	switch c := p.cooldowns[w.req.Target]; {
	case c != nil && c.resting:
		return 0
	case w.req.Exclusive || c != nil && c.strikes > 0:
		return 1
	}
	return p.MaxLeases - p.load()
}

// reserveFor lets the next batch of a line keep slots, if none does.
func (e *Engine) reserveFor(l *line, now moment) {
	if l.reserving != nil || e.err != nil {
		return
	}
	var next *waiter
	for _, a := range l.batches {
		if w, _ := a.fronts.Min(); w.before(next, now) {
			next = w
		}
	}
	if next == nil {
		return
	}
	l.reserving = next
	e.fillReserving(next, now)
}

func (e *Engine) fillReserving(w *waiter, now moment) {
	e.fill(w)
	if len(w.reserved) >= w.least {
		e.grantReserved(w, now)
	}
}

// endReserving lets others have what w, which is done, has kept, and the next batch of
// the line reserve.
func (e *Engine) endReserving(w *waiter, now moment) {
	free := e.letGo(w)
	next := w.class != nil && w.class.waiting.reserving == w
	if next {
		w.class.waiting.reserving = nil
	}
	e.offerAll(free, now)
	if next {
		e.reserveFor(w.class.waiting, now)
		e.offerAll(free, now) // what the next one cannot have, others pass it by for
	}
}
