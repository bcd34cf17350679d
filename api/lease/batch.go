package lease

import "slices"

// fill reserves free slots for w until it has all that it asks for.
func (e *Engine) fill(w *waiter) {
	for len(w.reserved) < w.affordable {
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

// grantReserved lends what is reserved for w.
func (e *Engine) grantReserved(w *waiter, now moment) {
	if err := e.afford(w.req.Target, len(w.reserved), now); err != nil {
		e.refuse(w, err)
		return
	}
	e.grant(w, e.letGo(w), now)
}

// unreserve gives up what is reserved of p, which may not be lendable any more. Those who
// lose it may find another one.
func (e *Engine) unreserve(p *proxy, now moment) {
	for _, w := range slices.Clone(p.reserved) {
		if w.done {
			continue
		}
		w.reserved = slices.DeleteFunc(w.reserved, func(o *proxy) bool { return o == p })
		e.touch(p, func() {
			p.reserved = slices.DeleteFunc(p.reserved, func(o *waiter) bool { return o == w })
			if w.req.Exclusive {
				p.exclusive = false
			}
			e.restForTrial(p, w.req.Target)
		})
		e.fillReserving(w, now)
	}
	e.offer(p, now)
}

// reserveFor lets the next batch of a line keep slots, if none does.
func (e *Engine) reserveFor(l *line, now moment) {
	if l.reserving != nil || e.err != nil {
		return
	}
	var next *waiter
	for key, g := range l.groups {
		w, _ := g.Front().Value.(*waiter)
		if key.batch && (next == nil || e.before(w, next, now)) {
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
	for _, p := range free {
		e.offer(p, now)
	}
	if next {
		e.reserveFor(w.class.waiting, now)
	}
}
