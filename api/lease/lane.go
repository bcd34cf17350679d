package lease

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"
)

// lanes are waiters by what tells when they may have a slot, but for their targets.
type lanes map[laneKey]*lane

type laneKey struct {
	client    string
	priority  int
	exclusive bool
	// least of a batch.
	least int
}

// lane is waiters who differ in age and target alone: those of a target are served in
// order, and of the first of each, the oldest whose target the proxy does not rest for.
type lane struct {
	byTarget map[string]*waiters
	// fronts has the first of each target.
	fronts *waiters
}

// waiters are in order of age.
type waiters = btree.BTreeG[*waiter]

func newWaiters() *waiters {
	older := func(a, b *waiter) bool { return a.number < b.number }
	return btree.NewBTreeGOptions(older, btree.Options{NoLocks: true, Degree: 8})
}

func (w *waiter) laneKey() laneKey {
	k := laneKey{client: w.req.Client, priority: w.req.Priority, exclusive: w.req.Exclusive}
	if w.count > 1 {
		k.least = w.least
	}
	return k
}

func (all *lanes) add(w *waiter) {
	if *all == nil {
		*all = lanes{}
	}
	a := (*all)[w.laneKey()]
	if a == nil {
		a = &lane{map[string]*waiters{}, newWaiters()}
		(*all)[w.laneKey()] = a
	}
	of := a.byTarget[w.req.Target]
	if of == nil {
		of = newWaiters()
		a.byTarget[w.req.Target] = of
	}
	front, _ := of.Min()
	of.Set(w)
	a.moveFront(front, of)
}

func (all *lanes) remove(w *waiter) {
	a := (*all)[w.laneKey()]
	of := a.byTarget[w.req.Target]
	front, _ := of.Min()
	of.Delete(w)
	a.moveFront(front, of)
	if of.Len() == 0 {
		delete(a.byTarget, w.req.Target)
	}
	if len(a.byTarget) == 0 {
		delete(*all, w.laneKey())
	}
}

// moveFront has the oldest of a target stand for it, where another one did before.
func (a *lane) moveFront(from *waiter, of *waiters) {
	to, _ := of.Min()
	if from == to {
		return
	}
	if from != nil {
		a.fronts.Delete(from)
	}
	if to != nil {
		a.fronts.Set(to)
	}
}

// nextFor is who is to have a slot of p, nil if nobody can.
func (a *lane) nextFor(p *proxy) (next *waiter) {
	a.fronts.Scan(func(w *waiter) bool {
		if w.fits(p) {
			next = w
		}
		return p.rests(w.req.Target) // whatever else is in the way is so for all
	})
	return next
}

func forAny(string) bool { return true }

// inOrder are those who wait for certain targets, the oldest first.
func (all lanes) inOrder(wanted func(target string) bool) []*waiter {
	var found []*waiter
	for _, a := range all {
		for target, of := range a.byTarget {
			if wanted(target) {
				found = append(found, of.Items()...)
			}
		}
	}
	slices.SortFunc(found, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
	return found
}
