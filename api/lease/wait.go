package lease

import (
	"cmp"
	"container/list"
	"slices"
	"time"
)

const (
	// waitMargin is how long before the end of its wait a request is refused: a grant
	// must still reach its client.
	waitMargin = 100 * time.Millisecond
	// ageStep is what a waiting request's priority grows by one in.
	ageStep = 10 * time.Second
)

// waiter is a request on its way to be granted or refused.
type waiter struct {
	req *Request
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

	// place among those that wait; nil when it does not.
	place *list.Element
	group groupKey
	// keyed: its key was found to be new.
	keyed bool
	alarm alarm

	// done: grant or err is what came of it, and ready is closed.
	done  bool
	ready chan struct{}
	grant Grant
	err   error
}

func newWaiter(req *Request, now moment) *waiter {
	w := &waiter{req: req, count: max(req.Count, 1), since: now, ready: make(chan struct{})}
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
	return p.lendable() && !p.full() && (w.bound == nil || w.bound == p) &&
		!p.rests(w.req.Target) && (!w.req.Exclusive || p.load() == 0)
}

// queue is who waits.
type queue struct {
	waiting int
	number  uint64
	// bound are the waiters that want one proxy, by its UID.
	bound map[string]map[*waiter]struct{}
}

// line is who waits in one class. Those of a group differ in age alone, so only the first
// of each group has to be looked at.
type line struct {
	groups map[groupKey]*list.List
	// reserving is the one batch that may keep slots until it has enough.
	reserving *waiter
}

type groupKey struct {
	client, target, bound, session string
	priority                       int
	exclusive, batch               bool
}

func (l *line) empty() bool { return len(l.groups) == 0 }

func (w *waiter) groupKey() groupKey {
	k := groupKey{
		client: w.req.Client, target: w.req.Target, session: w.req.Session, priority: w.req.Priority,
		exclusive: w.req.Exclusive, batch: w.count > 1,
	}
	if w.bound != nil {
		k.bound = w.bound.UID
	}
	return k
}

// enqueue has w wait, unless its client has too many that do.
func (e *Engine) enqueue(w *waiter, now moment) {
	c := e.client(w.req.Client)
	if limit := w.req.Quota.Waiting; limit > 0 && c.waiting >= limit {
		e.refuse(w, &QuotaError{What: "waiting requests", Limit: limit})
		return
	}
	until := w.since + w.req.Wait - min(waitMargin, w.req.Wait/4)
	if until <= now {
		return
	}
	e.queue.number++
	w.number = e.queue.number
	if w.req.Key != "" {
		w.keyed = true
		c.keys[w.req.Key] = &keyed{fingerprint: w.req.Fingerprint, waiting: true}
	}
	c.waiting++
	c.claimed += w.count
	e.queue.waiting++
	e.set(&w.alarm, until)
	e.stand(w)
	if w.count > 1 {
		e.reserveFor(w.class.waiting, now)
	}
}

// stand puts w into its group, behind those that are older.
func (e *Engine) stand(w *waiter) {
	l := w.class.waiting
	if l.groups == nil {
		l.groups = map[groupKey]*list.List{}
	}
	w.group = w.groupKey()
	g := l.groups[w.group]
	if g == nil {
		g = list.New()
		l.groups[w.group] = g
	}
	before := g.Back()
	for before != nil && before.Value.(*waiter).number > w.number {
		before = before.Prev()
	}
	if before == nil {
		w.place = g.PushFront(w)
	} else {
		w.place = g.InsertAfter(w, before)
	}
	if w.bound == nil {
		return
	}
	if e.queue.bound == nil {
		e.queue.bound = map[string]map[*waiter]struct{}{}
	}
	if e.queue.bound[w.bound.UID] == nil {
		e.queue.bound[w.bound.UID] = map[*waiter]struct{}{}
	}
	e.queue.bound[w.bound.UID][w] = struct{}{}
}

// leaveLine is the reverse of stand.
func (e *Engine) leaveLine(w *waiter) {
	l := w.class.waiting
	g := l.groups[w.group]
	g.Remove(w.place)
	w.place = nil
	if g.Len() == 0 {
		delete(l.groups, w.group)
	}
	if uid := w.group.bound; uid != "" {
		delete(e.queue.bound[uid], w)
		if len(e.queue.bound[uid]) == 0 {
			delete(e.queue.bound, uid)
		}
	}
}

// dequeue takes w out of all that counts it as waiting.
func (e *Engine) dequeue(w *waiter) {
	if w.place == nil {
		return
	}
	c := e.client(w.req.Client)
	c.waiting--
	c.claimed -= w.count
	e.queue.waiting--
	e.unset(&w.alarm)
	e.leaveLine(w)
	if k := c.keys[w.req.Key]; w.req.Key != "" && k != nil && k.waiting {
		delete(c.keys, w.req.Key)
	}
}

// finishWaiter wakes w, which has its answer.
func (e *Engine) finishWaiter(w *waiter) {
	e.dequeue(w)
	w.done = true
	close(w.ready)
	e.endReserving(w, e.now())
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
		} else if !slices.ContainsFunc(p.classes, func(c *class) bool { return e.passBy(c.waiting, now) }) {
			return
		}
	}
}

// nextFor is who is to have a slot of p, of those whom it satisfies: the highest priority,
// then the client with the fewest recent grants, then the oldest.
func (e *Engine) nextFor(p *proxy, now moment) *waiter {
	var best *waiter
	for _, c := range p.classes {
		if c.waiting == nil {
			continue
		}
		for _, g := range c.waiting.groups {
			w, _ := g.Front().Value.(*waiter)
			if w.count > 1 {
				w = c.waiting.reserving
			}
			if w != nil && w.fits(p) && (best == nil || e.before(w, best, now)) {
				best = w
			}
		}
	}
	return best
}

func (e *Engine) before(a, b *waiter, now moment) bool {
	order := cmp.Compare(b.rank(now), a.rank(now))
	if order == 0 && a.req.Client != b.req.Client {
		order = cmp.Compare(e.client(a.req.Client).recentGrants(now), e.client(b.req.Client).recentGrants(now))
	}
	return cmp.Or(order, cmp.Compare(a.number, b.number)) < 0
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

// rebind lets those who wait for p ask again, now that it may not be what they get.
func (e *Engine) rebind(p *proxy, now moment) {
	if e.queue.waiting == 0 {
		return
	}
	var all []*waiter
	for w := range e.queue.bound[p.UID] {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
	for _, w := range all {
		e.again(w, now)
	}
}

// again has w, which waits, ask anew; it keeps its age.
func (e *Engine) again(w *waiter, now moment) {
	e.leaveLine(w)
	w.bound, w.moved = e.sessionProxy(w.req)
	e.stand(w) // a class that somebody waits in stays, whatever pick looks at
	p := w.bound
	if p == nil {
		p = e.pick(w.class, w.req.Target, w.req.Exclusive)
	}
	if p != nil && w.fits(p) && p.matches(w.req.Selector) {
		e.lendTo(w, p, now)
	}
}

// refuseAll wakes all who wait.
func (q *queue) refuseAll(e *Engine, why error) {
	for _, c := range e.fleet.classes {
		if c.waiting == nil {
			continue
		}
		for !c.waiting.empty() {
			for _, g := range c.waiting.groups {
				w, _ := g.Front().Value.(*waiter)
				e.refuse(w, why)
				break
			}
		}
	}
}
