package lease

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/btree"
)

// target is a host that proxies rest for, or that has a budget.
type target struct {
	name string
	// resting are the lendable proxies that rest for it.
	resting map[*proxy]struct{}
	// ends are the cooldowns of which the time is not over, the next one first.
	ends   *btree.BTreeG[*cooldown]
	budget *budget
}

func (e *Engine) target(name string) *target {
	t := e.targets[name]
	if t == nil {
		t = &target{name: name, resting: map[*proxy]struct{}{}, ends: btree.NewBTreeGOptions(endsFirst, btree.Options{NoLocks: true})}
		e.targets[name] = t
	}
	return t
}

// rests counts p as resting, or takes it out of that count.
func (t *target) rests(p *proxy, resting bool) {
	if resting {
		t.resting[p] = struct{}{}
	} else {
		delete(t.resting, p)
	}
}

func (e *Engine) dropIfUnused(t *target) {
	if len(t.resting) == 0 && t.ends.Len() == 0 && t.budget == nil {
		delete(e.targets, t.name)
	}
}

func endsFirst(a, b *cooldown) bool {
	return cmp.Or(cmp.Compare(a.ends, b.ends), strings.Compare(a.proxy.UID, b.proxy.UID)) < 0
}

func (t *target) began(c *cooldown) {
	c.ends = c.until
	t.ends.Set(c)
}

func (t *target) ended(c *cooldown) {
	if c.ends > 0 {
		t.ends.Delete(c)
		c.ends = 0
	}
}

// firstEnd is how long it takes until a proxy of the class may be lent again, as far as few
// looks tell.
func (t *target) firstEnd(c *class, now moment) time.Duration {
	after := retryUsable // a trial finds out
	looks := 0
	t.ends.Scan(func(cd *cooldown) bool {
		if !cd.proxy.lendable() || !cd.proxy.matches(c.selector) {
			looks++
			return looks < maxLooks
		}
		after = cd.ends - now
		return false
	})
	return after
}

// usable is how many proxies can be lent for the target now.
func (e *Engine) usable(t *target) int { return e.fleet.lendable - len(t.resting) }
