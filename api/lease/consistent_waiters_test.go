package lease

import (
	"cmp"
	"fmt"
	"slices"
)

func (c *checker) allWaiters() map[*waiter]*line {
	all := map[*waiter]*line{}
	add := func(l *line) {
		for _, w := range append(l.singles.inOrder(forAny), l.batches.inOrder(forAny)...) {
			all[w] = l
		}
	}
	for _, cl := range c.fleet.classes {
		if cl.waiting != nil {
			add(cl.waiting)
		}
	}
	for _, p := range c.fleet.proxies {
		add(&p.waiting)
	}
	return all
}

// waiters are where they are found, and none of them could be served.
func (c *checker) waiters() {
	all := c.allWaiters()
	c.equal("waiting", len(all), c.queue.waiting)
	for w, l := range all {
		what := fmt.Sprintf("waiter %d of %s", w.number, w.req.Client)
		right := w.class.waiting
		if w.bound != nil {
			right = &w.bound.waiting
			if c.fleet.proxies[w.bound.UID] != w.bound || !w.bound.matches(w.req.Selector) {
				c.no("%s waits for a proxy that is gone, or another one now", what)
			}
		} else if c.fleet.classes[w.class.key] != w.class {
			c.no("%s waits in a class that is forgotten", what)
		}
		if w.done || w.line != l || l != right || w.client != c.Engine.clients[w.req.Client] {
			c.no("%s stands where it is not found", what)
		}
		if first, _ := (*l.lanesOf(w))[w.laneKey()].byTarget[w.req.Target].Min(); first.number > w.number {
			c.no("%s stands behind a younger one", what)
		}
		c.rings(what, &w.alarm, w.since+w.req.Wait-min(waitMargin, w.req.Wait/4))
		if w.req.Key != "" {
			if k := c.Engine.clients[w.req.Client].keys[w.req.Key]; k == nil || k.waiting != w.count {
				c.no("the key of %s is not in use", what)
			}
		}
		c.cannotBeServed(what, w, l)
		c.reserves(what, w)
	}
	c.lanes()
	for _, cl := range c.fleet.classes {
		if cl.waiting != nil && cl.waiting.reserving != nil && !has(all, cl.waiting.reserving) {
			c.no("class %q reserves for somebody who does not wait", cl.key)
		}
	}
}

// lanes have the first of each target in front, and classes that are waited in are counted.
func (c *checker) lanes() {
	waited := 0
	check := func(l *line) {
		for _, all := range []lanes{l.singles, l.batches} {
			for _, a := range all {
				var fronts []*waiter
				for _, of := range a.byTarget {
					front, _ := of.Min()
					fronts = append(fronts, front)
				}
				slices.SortFunc(fronts, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
				if !slices.Equal(fronts, a.fronts.Items()) {
					c.no("a lane has %d in front, want %d, or others", a.fronts.Len(), len(fronts))
				}
			}
		}
	}
	for _, cl := range c.fleet.classes {
		if cl.waiting != nil && !cl.waiting.empty() {
			waited++
			check(cl.waiting)
		}
	}
	for _, p := range c.fleet.proxies {
		check(&p.waiting)
	}
	c.equal("classes waited in", waited, c.fleet.waited)
}

func (c *checker) cannotBeServed(what string, w *waiter, l *line) {
	slots := 0
	for _, p := range c.fleet.proxies {
		if p.matches(w.req.Selector) && w.fits(p) {
			n := p.MaxLeases - p.load()
			if cd := p.cooldowns[w.req.Target]; w.req.Exclusive || cd != nil && cd.strikes > 0 {
				n = 1
			}
			slots += n
		}
	}
	switch {
	case w.count == 1 || l.reserving == w:
		if slots > 0 {
			c.no("%s waits, and %d slots are free for it", what, slots)
		}
	case slots >= w.least:
		c.no("%s waits for %d, and %d slots are free for it", what, w.least, slots)
	}
	if w.count > 1 && l.reserving == nil || len(w.reserved) > 0 && l.reserving != w || len(w.reserved) >= w.least {
		c.no("%s has %d reserved of %d; its line reserves: %v", what, len(w.reserved), w.least, l.reserving != nil)
	}
}

// reserves says that what w keeps may be lent to it.
func (c *checker) reserves(what string, w *waiter) {
	for _, p := range w.reserved {
		if c.fleet.proxies[p.UID] != p || !p.lendable() || !p.matches(w.req.Selector) {
			c.no("%s keeps a slot of %s, which it cannot have", what, p.Key)
		}
		if p.load() > p.MaxLeases {
			c.no("%s keeps a slot of %s, which may have %d leases, not %d", what, p.Key, p.MaxLeases, p.load())
		}
	}
}
