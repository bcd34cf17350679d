package lease

import "time"

const (
	// waitMargin is how long before the end of its wait a request is refused: a grant
	// must still reach its client.
	waitMargin = 100 * time.Millisecond
	// ageStep is what a waiting request's priority grows by one in.
	ageStep = 10 * time.Second
)

// waiter is a request on its way to be granted or refused.
type waiter struct {
	req    *Request
	client *client
	// count leases are asked for, least will do.
	count, least int
	since        moment
	number       uint64

	class *class
	// bound is the proxy of its session, moved why it is another one than before.
	bound *proxy
	moved string
	// reserved are slots of a batch that wants more.
	reserved []*proxy

	// line that it stands in; nil when it does not wait.
	line  *line
	alarm alarm

	// done: grant or err is what came of it, and ready, which one that waits has, is closed.
	// It is told when the group is kept: what a refusal has seen is told as well.
	done  bool
	told  *group
	ready chan struct{}
	grant Grant
	err   error
}

func newWaiter(req *Request, now moment) *waiter {
	w := &waiter{req: req, count: max(req.Count, 1), since: now}
	if req.Session != "" {
		w.count = 1
	}
	w.least = w.count
	if req.AtLeast > 0 {
		w.least = min(req.AtLeast, w.count)
	}
	w.alarm.rings = w
	return w
}

// fits says whether w can have a slot of p.
func (w *waiter) fits(p *proxy) bool {
	return p.lendable() && !p.full() && (w.bound == nil || w.bound == p && p.matches(w.req.Selector)) &&
		!p.rests(w.req.Target) && (!w.req.Exclusive || p.load() == 0)
}

// finishWaiter wakes w, which has its answer.
func (e *Engine) finishWaiter(w *waiter) {
	e.dequeue(w)
	w.done, w.told = true, e.barrier()
	if w.ready != nil {
		close(w.ready)
	}
	if w.count > 1 {
		e.endReserving(w, e.now())
	}
}

func (e *Engine) refuse(w *waiter, err error) {
	w.err = err
	e.finishWaiter(w)
}

// ring is the end of the wait.
func (w *waiter) ring(e *Engine, now moment) { e.refuse(w, e.noMatchFor(w, now)) }

// offer gives the free slots of p to those who wait for them.
func (e *Engine) offer(p *proxy, now moment) {
	for e.err == nil && e.queue.waiting > 0 && p.lendable() && !p.full() {
		if w := e.nextFor(p, now); w != nil {
			e.hand(w, p, now)
		} else if !e.passBy(p, now) {
			return
		}
	}
}

func (e *Engine) offerAll(proxies []*proxy, now moment) {
	for _, p := range proxies {
		e.offer(p, now)
	}
}

// nextFor is who is to have a slot of p, of those whom it satisfies: the highest priority,
// then the client with the fewest recent grants, then the oldest.
func (e *Engine) nextFor(p *proxy, now moment) *waiter {
	best := p.waiting.nextFor(p, nil, now)
	for _, c := range p.classes {
		if c.waiting != nil {
			best = c.waiting.nextFor(p, best, now)
		}
	}
	return best
}

func (l *line) nextFor(p *proxy, best *waiter, now moment) *waiter {
	for _, a := range l.singles {
		if w := a.nextFor(p); w != nil && w.before(best, now) {
			best = w
		}
	}
	if w := l.reserving; w != nil && w.fits(p) && w.before(best, now) {
		best = w
	}
	return best
}

// before says whether w is served before o, which may be nobody.
func (w *waiter) before(o *waiter, now moment) bool {
	if o == nil {
		return true
	}
	if a, b := w.rank(now), o.rank(now); a != b {
		return a > b
	}
	if a, b := w.client.heat, o.client.heat; a != b {
		return a < b
	}
	return w.number < o.number
}

func (w *waiter) rank(now moment) int { return w.req.Priority + int((now-w.since)/ageStep) }

// hand gives w a slot of p.
func (e *Engine) hand(w *waiter, p *proxy, now moment) {
	if w.count > 1 {
		e.reserve(w, p)
		if len(w.reserved) >= w.least {
			e.grantReserved(w, now)
		}
		return
	}
	if w.req.Session != "" && w.bound == nil {
		// Another request of the session may have been granted since w asked.
		bound, moved := e.sessionProxy(w.req)
		if w.moved = moved; bound != nil && bound != p {
			e.again(w, now)
			return
		}
	}
	e.lendTo(w, p, now)
}

// lendTo grants w, which has waited, a slot of p, if its target's budget has one left.
func (e *Engine) lendTo(w *waiter, p *proxy, now moment) {
	if err := e.afford(w.req.Target, 1, now); err != nil {
		e.refuse(w, err)
		return
	}
	e.grant(w, []*proxy{p}, now)
}

// rebind lets those who wait for p, for certain targets, ask again: it may not be what they
// get.
func (e *Engine) rebind(p *proxy, wanted func(target string) bool, now moment) {
	for _, w := range p.waiting.singles.inOrder(wanted) {
		e.again(w, now)
	}
}

// again has w, which waits, ask anew; it keeps its age.
func (e *Engine) again(w *waiter, now moment) {
	e.leaveLine(w)
	w.bound, w.moved = e.sessionProxy(w.req)
	w.class = e.class(w.req.Selector, false, "")
	crowded := e.crowded(w)
	e.stand(w)
	p := w.bound
	switch {
	case crowded:
		e.refuse(w, errCrowded)
		return
	case p == nil:
		p = e.pick(w.class, w.req.Target, w.req.Exclusive)
	case !p.matches(w.req.Selector):
		e.refuse(w, e.noMatchFor(w, now))
		return
	}
	if p != nil && w.fits(p) {
		e.lendTo(w, p, now)
	}
}
