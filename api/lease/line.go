package lease

import (
	"cmp"
	"container/list"
	"slices"
)

// queue counts who waits.
type queue struct {
	waiting int
	number  uint64
}

// line is who waits in one class, or for one proxy. Those of a group differ in age alone,
// so only the first of each group has to be looked at.
type line struct {
	singles, batches groups
	// reserving is the one batch that may keep slots until it has enough.
	reserving *waiter
}

// groups are waiters by what tells whether they may have a slot, and when; the oldest of
// each is in front.
type groups map[groupKey]*list.List

type groupKey struct {
	client, target string
	priority       int
	exclusive      bool
}

func (l *line) empty() bool { return len(l.singles)+len(l.batches) == 0 }

// groupsOf are those that w stands in.
func (l *line) groupsOf(w *waiter) *groups {
	if w.count > 1 {
		return &l.batches
	}
	return &l.singles
}

func (w *waiter) groupKey() groupKey {
	return groupKey{client: w.req.Client, target: w.req.Target, priority: w.req.Priority, exclusive: w.req.Exclusive}
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
	w.ready = make(chan struct{})
	c.waiting++
	c.claimed += w.count
	e.queue.waiting++
	e.set(&w.alarm, until)
	e.stand(w)
	if w.count > 1 {
		e.reserveFor(w.class.waiting, now)
	}
}

// stand puts w into its group, behind those that are older. Who can have one proxy alone
// waits there, and is nobody else's burden.
func (e *Engine) stand(w *waiter) {
	w.line = w.class.waiting
	if w.bound != nil {
		w.line = &w.bound.waiting
	}
	all := w.line.groupsOf(w)
	if *all == nil {
		*all = groups{}
	}
	g := (*all)[w.groupKey()]
	if g == nil {
		g = list.New()
		(*all)[w.groupKey()] = g
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
}

// leaveLine is the reverse of stand.
func (e *Engine) leaveLine(w *waiter) {
	all := *w.line.groupsOf(w)
	g := all[w.groupKey()]
	g.Remove(w.place)
	w.place = nil
	if g.Len() == 0 {
		delete(all, w.groupKey())
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

// refuseAll wakes all who wait.
func (e *Engine) refuseAll(why error) {
	for _, c := range e.fleet.classes {
		if c.waiting != nil {
			e.refuseLine(c.waiting, why)
		}
	}
	for _, p := range e.fleet.proxies {
		e.refuseLine(&p.waiting, why)
	}
}

func (e *Engine) refuseLine(l *line, why error) {
	for _, w := range append(l.singles.inOrder(), l.batches.inOrder()...) {
		e.refuse(w, why)
	}
}

// inOrder are all who wait in g, the oldest first.
func (g groups) inOrder() []*waiter {
	var all []*waiter
	for _, l := range g {
		for el := l.Front(); el != nil; el = el.Next() {
			w, _ := el.Value.(*waiter)
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
	return all
}
