package lease

import (
	"math"
	"time"
)

const (
	budgetWindow = time.Minute
	// budgetSlots of a second each; one more, since the first is only in part within the
	// window.
	budgetSlots = int(budgetWindow/time.Second) + 1
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
	defer e.unlock()
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

// spend counts a grant, and returns when the last one before it was.
func (e *Engine) spend(name string, now moment) (before moment) {
	t := e.targets[name]
	if t == nil || t.budget == nil {
		return never
	}
	b := t.budget
	b.turn(now)
	b.slots[b.second%int64(budgetSlots)]++
	b.total++
	before, b.last = b.last, now
	e.change(b.change(name))
	return before
}

// unspend is the reverse of spend.
func (e *Engine) unspend(r *record, now moment) {
	t := e.targets[r.target]
	if t == nil || t.budget == nil {
		return
	}
	b := t.budget
	b.turn(now)
	second := int64(r.granted / time.Second)
	if slot := &b.slots[second%int64(budgetSlots)]; b.second-second < int64(budgetSlots) && *slot > 0 {
		*slot--
		b.total--
	}
	if b.last == r.granted {
		b.last = r.before.spent
	}
	e.change(b.change(r.target))
}

func (b *budget) change(name string) Change {
	v := appendNumber(appendNumber(newForm(), b.second), int64(b.last))
	for _, n := range b.slots {
		v = appendNumber(v, int64(n))
	}
	return Change{Kind: kindBudget, Key: name, Value: v}
}

func readBudget(f *form) *budget {
	b := &budget{perProxyPerMinute: math.Inf(1), second: int64(f.tally()), last: f.moment()}
	for i := range b.slots {
		b.slots[i] = f.tally()
		b.total += b.slots[i]
	}
	return b
}
