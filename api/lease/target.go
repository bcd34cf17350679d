package lease

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/tidwall/btree"
)

// target is a host that proxies rest for, or that has a budget.
type target struct {
	name string
	// resting counts the lendable proxies that rest for it.
	resting int
	// ends are the cooldowns of which the time is not over, the next one first.
	ends   *btree.BTreeG[*cooldown]
	budget *budget
}

func (e *Engine) target(name string) *target {
	t := e.targets[name]
	if t == nil {
		t = &target{name: name, ends: btree.NewBTreeGOptions(endsFirst, btree.Options{NoLocks: true})}
		e.targets[name] = t
	}
	return t
}

func (e *Engine) dropIfUnused(t *target) {
	if t.resting == 0 && t.ends.Len() == 0 && t.budget == nil {
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

// firstEnd is how long it takes until a proxy of the class may be lent again.
func (t *target) firstEnd(c *class, now moment) time.Duration {
	after := retryUsable // a trial finds out
	t.ends.Scan(func(cd *cooldown) bool {
		if !cd.proxy.lendable() || !cd.proxy.matches(c.selector) {
			return true
		}
		after = cd.ends - now
		return false
	})
	return after
}

// usable is how many proxies can be lent for the target now.
func (e *Engine) usable(t *target) int { return e.fleet.lendable - t.resting }

const (
	budgetWindow = time.Minute
	// budgetSlots of a second each; one more, since the first is only in part within the
	// window.
	budgetSlots = int(budgetWindow/time.Second) + 1
	// never is before any moment that a budget asks for.
	never moment = math.MinInt64 / 2
)

// budget counts the grants of the last minute.
type budget struct {
	// perProxyPerMinute is infinite when it was not told yet.
	perProxyPerMinute float64
	// slots by second, of which second is the latest.
	slots  [budgetSlots]int
	second int64
	total  int
	last   moment
}

// SetBudgets makes budgets the only ones. A target that keeps one keeps what was spent.
func (e *Engine) SetBudgets(budgets []Budget) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return
	}
	now := e.settle()
	kept := map[string]bool{}
	for _, b := range budgets {
		kept[b.Target] = true
		t := e.target(b.Target)
		if t.budget == nil {
			t.budget = &budget{second: int64(now / time.Second), last: never}
		}
		t.budget.perProxyPerMinute = b.PerProxyPerMinute
	}
	for name, t := range e.targets {
		if t.budget != nil && !kept[name] {
			t.budget = nil
			e.change(Change{Kind: kindBudget, Key: name})
			e.dropIfUnused(t)
		}
	}
}

// afford returns an error when n more grants of a target exceed its budget. What the
// proxies that rest cannot take is nobody's: a ban must not push its load on the rest.
// When all rest, there is nothing to lend, and that says more than a budget of nothing.
func (e *Engine) afford(name string, n int, now moment) error {
	t := e.targets[name]
	if t == nil || t.budget == nil || e.usable(t) == 0 {
		return nil
	}
	after := t.budget.after(n, float64(e.usable(t)), now)
	if after <= 0 {
		return nil
	}
	return &BudgetError{Target: name, RetryAfter: max(after, time.Second)}
}

// after is how long it takes until n more grants are within the budget of so many proxies.
func (b *budget) after(n int, proxies float64, now moment) time.Duration {
	b.turn(now)
	limit := b.perProxyPerMinute * proxies
	switch {
	case float64(b.total+n) <= limit:
		return 0
	case limit >= 1:
		return b.roomAfter(b.total+n-int(limit), now)
	case limit > 0 && n == 1: // less than one a minute
		return time.Duration(min(float64(budgetWindow)/limit, -float64(never))) - (now - b.last)
	}
	return budgetWindow
}

// turn forgets what is older than the window.
func (b *budget) turn(now moment) {
	second := int64(now / time.Second)
	for ; b.second < second; b.second++ {
		if b.total == 0 {
			b.second = second
			break
		}
		next := &b.slots[(b.second+1)%int64(budgetSlots)]
		b.total -= *next
		*next = 0
	}
}

// roomAfter is how long it takes until n grants have left the window.
func (b *budget) roomAfter(n int, now moment) time.Duration {
	for age := int64(budgetSlots) - 1; age >= 0; age-- {
		if second := b.second - age; second >= 0 {
			n -= b.slots[second%int64(budgetSlots)]
		}
		if n <= 0 {
			return time.Duration(b.second-age+int64(budgetSlots))*time.Second - now
		}
	}
	return budgetWindow
}

// spend counts a grant.
func (e *Engine) spend(name string, now moment) {
	t := e.targets[name]
	if t == nil || t.budget == nil {
		return
	}
	b := t.budget
	b.turn(now)
	b.slots[b.second%int64(budgetSlots)]++
	b.total++
	b.last = now
	e.change(b.change(name))
}

func (b *budget) change(name string) Change {
	v := appendNumber(appendNumber(newForm(), b.second), int64(b.last))
	for _, n := range b.slots {
		v = appendNumber(v, int64(n))
	}
	return Change{Kind: kindBudget, Key: name, Value: v}
}

func readBudget(f *form) *budget {
	b := &budget{perProxyPerMinute: math.Inf(1), second: f.number(), last: moment(f.number())}
	if b.second < 0 {
		f.fail()
	}
	for i := range b.slots {
		b.slots[i] = int(f.number())
		b.total += b.slots[i]
	}
	return b
}
