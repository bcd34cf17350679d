package lease

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/btree"
)

const (
	// maxClasses, that nobody waits in, and maxWaited, that somebody does, bound what each
	// change of a proxy costs.
	maxClasses = 256
	maxWaited  = 1024
	// maxSkips is how many resting proxies are passed over, and maxLooks how many counted,
	// before their target gets a class of its own: that costs each change of a proxy something.
	maxSkips = 128
	maxLooks = 2048
)

// class is the proxies that a selector matches, those first that are to be lent first.
// Selecting takes the first one, so it does not matter how many there are.
type class struct {
	key      string
	selector map[string]string
	// own: proxies that rest for target are left out of free.
	own    bool
	target string
	used   uint64

	members, unhealthy, draining, unusable, full, resting int
	// free has those that can be lent, but for their cooldowns.
	free *btree.BTreeG[slot]
	// waiting requests of the selector; only a class without a target has any.
	waiting *line
}

// slot is the place of a proxy in a class.
type slot struct {
	load    int
	latency int64
	proxy   *proxy
}

// first orders slots by what is lent first: fewest leases, then latency, then name.
func first(a, b slot) bool {
	if a.load != b.load {
		return a.load < b.load
	}
	if a.latency != b.latency {
		return a.latency < b.latency
	}
	return cmp.Or(strings.Compare(a.proxy.Key, b.proxy.Key), strings.Compare(a.proxy.UID, b.proxy.UID)) < 0
}

func slotOf(p *proxy) slot { return slot{p.load(), p.LatencyMillis, p} }

// tally counts p as what it is now, or takes it out of that count.
func (c *class) tally(p *proxy, n int) {
	c.members += n
	switch {
	case !p.Healthy:
		c.unhealthy += n
	case p.Draining:
		c.draining += n
	case p.aside.index > 0:
		c.unusable += n
	case p.full():
		c.full += n
	case c.own && p.rests(c.target):
		c.resting += n
	case n > 0:
		c.free.Set(slotOf(p))
	default:
		c.free.Delete(slotOf(p))
	}
}

// appendSelector is the same for equal selectors.
func appendSelector(key []byte, selector map[string]string) []byte {
	var few [8]string // most have no more, and need no memory for this
	names := few[:0]
	for k := range selector {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		key = appendText(appendText(key, k), selector[k])
	}
	return key
}

// class returns the one of a selector; for own, the one that leaves out what rests for
// target.
func (e *Engine) class(selector map[string]string, own bool, target string) *class {
	var short [128]byte
	key := appendSelector(appendText(appendFlag(short[:0], own), target), selector)
	f := &e.fleet
	f.uses++
	if c, ok := f.classes[string(key)]; ok {
		c.used = f.uses
		return c
	}
	for n := 0; n < 2 && len(f.classes)-f.waited >= maxClasses; n++ { // two for one: many may be left at once
		f.dropOne()
	}
	c := &class{
		key: string(key), selector: maps.Clone(selector), own: own, target: target, used: f.uses,
		free: btree.NewBTreeGOptions(first, btree.Options{NoLocks: true}),
	}
	if !own {
		c.waiting = &line{}
	}
	f.classes[c.key] = c
	for p := range f.matching(c.selector) {
		p.classes = append(p.classes, c)
		c.tally(p, 1)
	}
	return c
}

// matching goes through the proxies that a selector matches.
func (f *fleet) matching(selector map[string]string) func(yield func(*proxy) bool) {
	return func(yield func(*proxy) bool) {
		if len(selector) == 0 {
			for _, p := range f.proxies {
				if !yield(p) {
					return
				}
			}
			return
		}
		for p := range f.rarest(selector) {
			if p.matches(selector) && !yield(p) {
				return
			}
		}
	}
}

// rarest are the proxies with that attribute of the selector that the fewest have.
func (f *fleet) rarest(selector map[string]string) map[*proxy]struct{} {
	var few map[*proxy]struct{}
	begun := false
	for k, v := range selector {
		have := f.byAttribute[attribute{k, v}]
		if !begun || len(have) < len(few) {
			few, begun = have, true
		}
	}
	return few
}

// dropOne forgets the class that was not used for longest, of those that nobody waits in.
func (f *fleet) dropOne() {
	var oldest *class
	for _, c := range f.classes {
		if (c.own || c.waiting.empty()) && (oldest == nil || c.used < oldest.used) {
			oldest = c
		}
	}
	delete(f.classes, oldest.key)
	for p := range f.matching(oldest.selector) {
		if i := slices.Index(p.classes, oldest); i >= 0 {
			p.classes = slices.Delete(p.classes, i, i+1)
		}
	}
}

// pick returns the proxy to lend next, nil if there is none. Where many rest for the
// target, it looks in a class that leaves them out.
func (e *Engine) pick(c *class, target string, exclusive bool) *proxy {
	best, skipped := c.pick(target, exclusive, maxSkips)
	if best == nil && skipped >= maxSkips {
		best, _ = e.class(c.selector, true, target).pick(target, exclusive, 1)
	}
	return best
}

// pick passes over at most skips proxies that rest.
func (c *class) pick(target string, exclusive bool, skips int) (best *proxy, skipped int) {
	c.free.Scan(func(s slot) bool {
		switch {
		case exclusive && s.load > 0:
			return false // so have all that follow
		case s.proxy.rests(target):
			skipped++
			return skipped < skips
		}
		best = s.proxy
		return false
	})
	return best, skipped
}

// noMatch says why pick has found nothing.
func (e *Engine) noMatch(c *class, target string, now moment) *NoMatchError {
	none := &NoMatchError{
		Considered: c.members, Unhealthy: c.unhealthy, Draining: c.draining, Unusable: c.unusable, AtCapacity: c.full,
	}
	none.InCooldown = e.restingIn(c, target)
	// What is free and does not rest has leases, which an exclusive one cannot join.
	none.AtCapacity += c.free.Len() - none.InCooldown
	none.RetryAfter = e.retryAfter(none, c, target, now)
	return none
}

// restingIn counts the proxies of c that could be lent, but for their rest.
func (e *Engine) restingIn(c *class, target string) int {
	t := e.targets[target]
	switch {
	case t == nil:
		return 0
	case len(t.resting) > maxLooks:
		return e.class(c.selector, true, target).resting
	}
	n := 0
	for p := range t.resting {
		if !p.full() && p.matches(c.selector) {
			n++
		}
	}
	return n
}

const (
	// retryFree is when a slot may have been given back, retryUsable when a proxy may have
	// come back.
	retryFree   = time.Second
	retryUsable = 5 * time.Second
)

func (e *Engine) retryAfter(none *NoMatchError, c *class, target string, now moment) time.Duration {
	switch {
	case none.AtCapacity > 0:
		return retryFree
	case none.InCooldown > 0:
		return e.target(target).firstEnd(c, now)
	case none.Considered > 0:
		return retryUsable
	}
	return 0
}
