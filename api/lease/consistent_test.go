package lease

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
		if !on || !p.sameAddress(r.proxy) || r.expires <= c.now {
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

func (c *checker) cooldowns() {
	resting, ends := map[string]int{}, map[string]int{}
	for uid, p := range c.fleet.proxies {
		for name, cd := range p.cooldowns {
			what := "cooldown " + cooldownKey(uid, name)
			if cd.proxy != p || cd.target != name {
				c.no("%s belongs elsewhere", what)
			}
			reserved := slices.ContainsFunc(p.reserved, func(w *waiter) bool { return w.req.Target == name })
			want := cd.until > c.now || cd.trial != "" || cd.strikes > 0 && reserved
			c.equal(what+" rests", want, cd.resting)
			if cd.resting && p.lendable() {
				resting[name]++
			}
			c.end(what, cd)
			if cd.ends > 0 {
				ends[name]++
			}
			c.trial(what, p, cd)
		}
	}
	for name, t := range c.targets {
		c.equal("resting for "+name, resting[name], t.resting)
		c.equal("ends of "+name, ends[name], t.ends.Len())
		c.usable(t)
	}
	for name, n := range ends {
		if c.targets[name] == nil {
			c.no("target %q is forgotten, and %d proxies rest for it", name, n)
		}
	}
}

func (c *checker) usable(t *target) {
	n := 0
	for _, p := range c.fleet.proxies {
		if p.lendable() && !p.rests(t.name) {
			n++
		}
	}
	c.equal("usable for "+t.name, n, c.Engine.usable(t))
}

func (c *checker) end(what string, cd *cooldown) {
	if cd.until <= c.now {
		c.equal(what+" has an end", moment(0), cd.ends)
		c.rings(what, &cd.alarm, cd.until+strikesKept)
		if cd.strikes == 0 {
			c.no("%s is over, and not forgotten", what)
		}
		return
	}
	c.equal(what+" ends", cd.until, cd.ends)
	c.rings(what, &cd.alarm, cd.until)
	if got, ok := c.targets[cd.target].ends.Get(cd); !ok || got != cd {
		c.no("%s is not among the ends of its target", what)
	}
}

// trial: at most one lease finds out whether a ban is over.
func (c *checker) trial(what string, p *proxy, cd *cooldown) {
	if r := c.Engine.leases[cd.trial]; cd.trial != "" && (r == nil || !has(p.leases, r) || !r.trial || r.target != cd.target) {
		c.no("%s has a trial %s that is none", what, cd.trial)
	}
	var since []string
	for r := range p.leases {
		if r.target == cd.target && cd.strikes > 0 && r.granted >= cd.until {
			since = append(since, r.id)
		}
	}
	if len(since) > 1 || len(since) == 1 && since[0] != cd.trial {
		c.no("%s is tried by %v, want %q alone", what, since, cd.trial)
	}
}

// memories are sessions and keys.
func (c *checker) memories() {
	held := map[sessionID]int{}
	for _, r := range c.Engine.leases {
		if r.ended == nil && r.session != "" {
			held[sessionID{r.client, r.session}]++
		}
	}
	for id, s := range c.sessions {
		c.equal("leases of session "+id.name, held[id], s.leases)
		delete(held, id)
		if s.leases == 0 {
			c.rings("session "+id.name, &s.alarm, s.idleUntil)
		}
	}
	if len(held) > 0 {
		c.no("sessions %v have leases, and are not known", held)
	}
	for name, cl := range c.Engine.clients {
		for key, k := range cl.keys {
			c.key(name+" "+key, k)
		}
	}
}

func (c *checker) key(what string, k *keyed) {
	if k.waiting {
		return
	}
	over := true
	for _, r := range k.records {
		over = over && (r.ended != nil || c.Engine.leases[r.id] != r)
	}
	switch {
	case over:
		c.rings("key "+what, &k.alarm, k.forgetAt)
	case k.alarm.index > 0 || k.forgetAt > 0:
		c.no("key %s is to be forgotten before its leases", what)
	}
}

func (c *checker) clients() {
	type sums struct{ active, claimed, waiting, sessions int }
	want, got := map[string]sums{}, map[string]sums{}
	for name, cl := range c.Engine.clients {
		want[name], got[name] = sums{}, sums{cl.active, cl.claimed, cl.waiting, cl.sessions}
	}
	for _, r := range c.Engine.leases {
		if r.ended == nil {
			s := want[r.client]
			s.active++
			want[r.client] = s
		}
	}
	for w := range c.allWaiters() {
		s := want[w.req.Client]
		s.claimed += w.count
		s.waiting++
		want[w.req.Client] = s
	}
	for id := range c.sessions {
		s := want[id.client]
		s.sessions++
		want[id.client] = s
	}
	if !maps.Equal(want, got) {
		c.no("the clients are %v, want %v", got, want)
	}
}

func (c *checker) allWaiters() map[*waiter]*line {
	all := map[*waiter]*line{}
	for _, cl := range c.fleet.classes {
		if cl.waiting == nil {
			continue
		}
		for _, g := range cl.waiting.groups {
			for el := g.Front(); el != nil; el = el.Next() {
				w, _ := el.Value.(*waiter)
				all[w] = cl.waiting
			}
		}
	}
	return all
}

// waiters are where they are found, and none of them could be served.
func (c *checker) waiters() {
	all := c.allWaiters()
	c.equal("waiting", len(all), c.queue.waiting)
	bound := map[string]int{}
	for w, l := range all {
		what := fmt.Sprintf("waiter %d of %s", w.number, w.req.Client)
		if w.done || w.place == nil || w.group != w.groupKey() || c.fleet.classes[w.class.key] != w.class || w.class.waiting != l {
			c.no("%s stands where it is not found", what)
		}
		if prev := w.place.Prev(); prev != nil && prev.Value.(*waiter).number > w.number {
			c.no("%s stands behind a younger one", what)
		}
		c.rings(what, &w.alarm, w.since+w.req.Wait-min(waitMargin, w.req.Wait/4))
		if w.bound != nil {
			bound[w.bound.UID]++
			if !has(c.queue.bound[w.bound.UID], w) || c.fleet.proxies[w.bound.UID] != w.bound {
				c.no("%s is bound to a proxy that does not know", what)
			}
		}
		if w.req.Key != "" {
			if k := c.Engine.clients[w.req.Client].keys[w.req.Key]; k == nil || !k.waiting {
				c.no("the key of %s is not in use", what)
			}
		}
		c.cannotBeServed(what, w, l)
	}
	for uid, there := range c.queue.bound {
		c.equal("those bound to "+uid, bound[uid], len(there))
	}
	for _, cl := range c.fleet.classes {
		if cl.waiting != nil && cl.waiting.reserving != nil && !has(all, cl.waiting.reserving) {
			c.no("class %q reserves for somebody who does not wait", cl.key)
		}
	}
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

func (c *checker) alarmsComplete() {
	c.set++ // of saving
	c.equal("alarms", c.set, len(c.alarms))
	for i, a := range c.alarms {
		if a.index != i+1 || i > 0 && a.at < c.alarms[(i-1)/2].at {
			c.no("the heap of alarms is broken at %d", i)
		}
	}
}

// Kept is all of e that its journal should have, as it would be kept now.
func (e *Engine) Kept() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	kept := map[string]string{}
	add := func(c Change) {
		if c.Value != nil {
			kept[string(c.Kind)+" "+strings.ToValidUTF8(c.Key, "?")] = fmt.Sprintf("%q", c.Value)
		}
	}
	for _, r := range e.leases {
		add(r.change())
	}
	for _, s := range e.sessions {
		add(s.change())
	}
	for _, p := range e.fleet.proxies {
		add(p.bansChange())
		for _, c := range p.cooldowns {
			add(c.change())
		}
	}
	for _, c := range e.clients {
		for key, k := range c.keys {
			if !k.waiting {
				kept["k "+k.client+" "+key] = fmt.Sprintf("%s %s %v %d", k.fingerprint, k.moved, k.forgetAt, len(k.records))
			}
		}
	}
	return kept
}

// Loads are the leases and reserved slots by UID.
func (e *Engine) Loads() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	loads := map[string]int{}
	for uid, p := range e.fleet.proxies {
		loads[uid] = p.load()
	}
	return loads
}
