package lease

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// Inconsistencies lets the past happen, and returns whatever contradicts itself in e: each
// index and count is compared with what a look at everything says.
func (e *Engine) Inconsistencies() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return nil
	}
	c := &checker{Engine: e, now: e.settle()}
	c.leases()
	c.proxies()
	c.classes()
	c.cooldowns()
	c.memories()
	c.waiters()
	c.clients()
	c.alarmsComplete()
	return c.found
}

type checker struct {
	*Engine
	now   moment
	found []string
	// set counts the alarms that should be.
	set int
}

func (c *checker) no(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checker) equal(what string, want, got any) {
	if !cmp.Equal(want, got) {
		c.no("%s is %v, want %v", what, got, want)
	}
}

func (c *checker) rings(what string, a *alarm, at moment) {
	c.set++
	if a.index == 0 || a.at != at {
		c.no("%s rings at %v (index %d), want %v", what, a.at, a.index, at)
	}
}

// leases are on their proxies and nowhere else, and end in time.
func (c *checker) leases() {
	active := 0
	for id, r := range c.Engine.leases {
		c.equal("the id of "+id, id, r.id)
		p := c.fleet.proxies[r.proxy.UID]
		on := p != nil && has(p.leases, r)
		if r.ended != nil {
			c.set++
			if on || r.alarm.index == 0 || r.alarm.at <= c.now {
				c.no("%s is over, and on its proxy (%v) or not to be forgotten (%v)", id, on, r.alarm)
			}
			continue
		}
		active++
		c.rings(id, &r.alarm, r.expires)
		if !on || !p.sameAddress(r.proxy.Candidate) || r.expires <= c.now {
			c.no("%s is active, on its proxy: %v, until %v", id, on, r.expires)
		}
	}
	c.equal("active", active, c.active)
}

func has[K comparable, V any](m map[K]V, k K) bool {
	_, ok := m[k]
	return ok
}

func (c *checker) proxies() {
	lendable := 0
	byAttribute := map[attribute]map[*proxy]struct{}{}
	for uid, p := range c.fleet.proxies {
		c.equal("the UID of "+uid, uid, p.UID)
		if p.lendable() {
			lendable++
		}
		if p.aside.index > 0 {
			c.set++
		}
		if p.doubt != nil {
			c.set++
			if p.Healthy || p.doubt.alarm.index == 0 {
				c.no("%s is in doubt for ever, or lent all the same", uid)
			}
		}
		alone := false
		for r := range p.leases {
			alone = alone || r.exclusive
			if r.ended != nil || c.Engine.leases[r.id] != r {
				c.no("%s has %s, which is over", uid, r.id)
			}
		}
		for _, w := range p.reserved {
			alone = alone || w.req.Exclusive
			if w.done || w.class.waiting.reserving != w || count(w.reserved, p) != count(p.reserved, w) {
				c.no("%s has a slot reserved for who does not reserve it", uid)
			}
		}
		if alone != p.exclusive || alone && p.load() != 1 {
			c.no("%s is exclusive: %v, want %v; load %d", uid, p.exclusive, alone, p.load())
		}
		for k, v := range p.Attributes {
			a := attribute{k, v}
			if byAttribute[a] == nil {
				byAttribute[a] = map[*proxy]struct{}{}
			}
			byAttribute[a][p] = struct{}{}
		}
		c.membership(p)
	}
	c.equal("lendable", lendable, c.fleet.lendable)
	if !maps.EqualFunc(byAttribute, c.fleet.byAttribute, maps.Equal) {
		c.no("the index of attributes is %v, want %v", c.fleet.byAttribute, byAttribute)
	}
}

func (c *checker) membership(p *proxy) {
	want := map[*class]bool{}
	for _, cl := range c.fleet.classes {
		if p.matches(cl.selector) {
			want[cl] = true
		}
	}
	got := map[*class]bool{}
	for _, cl := range p.classes {
		got[cl] = true
	}
	if len(got) != len(p.classes) || !maps.Equal(want, got) {
		c.no("%s is in %d classes, want %d", p.UID, len(p.classes), len(want))
	}
}

func count[T comparable](all []T, one T) int {
	n := 0
	for _, x := range all {
		if x == one {
			n++
		}
	}
	return n
}

// classes count each member once, and have those that are free in order.
func (c *checker) classes() {
	for key, cl := range c.fleet.classes {
		want := &class{}
		var free []slot
		for _, p := range c.fleet.proxies {
			if !p.matches(cl.selector) {
				continue
			}
			want.members++
			switch {
			case !p.Healthy:
				want.unhealthy++
			case p.Draining:
				want.draining++
			case !p.lendable():
				want.unusable++
			case p.full():
				want.full++
			case cl.own && p.rests(cl.target):
				want.resting++
			default:
				free = append(free, slotOf(p))
			}
		}
		slices.SortFunc(free, func(a, b slot) int {
			if first(a, b) {
				return -1
			}
			return 1
		})
		name := fmt.Sprintf("class %q", key)
		c.equal(name, [6]int{want.members, want.unhealthy, want.draining, want.unusable, want.full, want.resting},
			[6]int{cl.members, cl.unhealthy, cl.draining, cl.unusable, cl.full, cl.resting})
		if got := cl.free.Items(); !slices.Equal(free, got) {
			c.no("%s has %d free, want %d, or another order", name, len(got), len(free))
		}
		for target := range c.targets {
			c.picks(cl, free, target)
		}
	}
}

// picks compares what is lent first with the first that fits of all.
func (c *checker) picks(cl *class, free []slot, target string) {
	if cl.own {
		return
	}
	for _, alone := range []bool{false, true} {
		var want *proxy
		for _, s := range free {
			if !s.proxy.rests(target) && (!alone || s.load == 0) {
				want = s.proxy
				break
			}
		}
		got, skipped := cl.pick(target, alone, maxSkips)
		if got != want && (got != nil || skipped < maxSkips) {
			c.no("class %q lends %v for %q, want %v", cl.key, got, target, want)
		}
	}
}

func (c *checker) alarmsComplete() {
	c.set++ // of saving
	c.equal("alarms", c.set, len(c.alarms))
	for i, a := range c.alarms {
		if a.index != i+1 || i > 0 && a.at < c.alarms[(i-1)/2].at {
			c.no("the heap of alarms is broken at %d", i)
		}
	}
}
