package lease

import "container/list"

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
