package lease

// queue counts who waits.
type queue struct {
	waiting int
	number  uint64
}

// line is who waits in one class, or for one proxy.
type line struct {
	singles, batches lanes
	// reserving is the one batch that may keep slots until it has enough.
	reserving *waiter
}

func (l *line) empty() bool { return len(l.singles)+len(l.batches) == 0 }

// lanesOf are those that w stands in one of.
func (l *line) lanesOf(w *waiter) *lanes {
	if w.count > 1 {
		return &l.batches
	}
	return &l.singles
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
	if e.crowded(w) {
		e.refuse(w, errCrowded)
		return
	}
	e.queue.number++
	w.number = e.queue.number
	if w.req.Key != "" {
		c.addKey(&keyed{key: w.req.Key, fingerprint: w.req.Fingerprint, waiting: w.count})
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

// crowded says whether w would be the first to wait in its class, and the classes that
// somebody waits in are as many as there may be.
func (e *Engine) crowded(w *waiter) bool {
	return w.bound == nil && w.class.waiting.empty() && e.fleet.waited >= maxWaited
}

// stand puts w into its lane. Who can have one proxy alone waits there, and is nobody
// else's burden.
func (e *Engine) stand(w *waiter) {
	w.line = w.class.waiting
	switch {
	case w.bound != nil:
		w.line = &w.bound.waiting
	case w.line.empty():
		e.fleet.waited++
	}
	w.line.lanesOf(w).add(w)
}

// leaveLine is the reverse of stand.
func (e *Engine) leaveLine(w *waiter) {
	w.line.lanesOf(w).remove(w)
	if w.line == w.class.waiting && w.line.empty() {
		e.fleet.waited--
	}
	w.line = nil
}

// dequeue takes w out of all that counts it as waiting.
func (e *Engine) dequeue(w *waiter) {
	if w.line == nil {
		return
	}
	c := e.client(w.req.Client)
	c.waiting--
	c.claimed -= w.count
	e.queue.waiting--
	e.unset(&w.alarm)
	e.leaveLine(w)
	if k := c.keys[w.req.Key]; w.req.Key != "" && k != nil && k.waiting > 0 {
		c.dropKey(k)
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
	for _, w := range append(l.singles.inOrder(forAny), l.batches.inOrder(forAny)...) {
		e.refuse(w, why)
	}
}
