package lease_test

import (
	"context"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// undo takes back what a request was granted, and has nobody lent its proxies for a while.
func (w *world) undo(edit ...func(*lease.Request)) {
	w.t.Helper()
	g := w.grant(edit...)
	w.must(w.Undo(w.t.Context(), request(edit...), g))
	for _, l := range g.Leases {
		w.SetAside([]string{l.Proxy.UID}, time.Second)
	}
	w.same("contradictions", []string(nil), w.Inconsistencies())
}

func TestUndo(t *testing.T) {
	t.Run("a session's first lease leaves no session", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		w.undo(session("s"))
		w.same("sessions kept", 0, len(w.journal.of('s')))
		g := w.grant(session("s"))
		w.same("granted", []string{"b"}, keysOf(g))
		w.same("moved", "", g.Moved)
	})
	t.Run("a session that had to move still has to, for the same reason", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c"))
		w.acquire(session("s"))
		w.Put(candidate("a", draining))
		w.undo(session("s"))
		w.restart(0)
		w.Put(candidate("b", unhealthy))
		g := w.grant(session("s"))
		w.same("granted", []string{"c"}, keysOf(g))
		w.same("moved", lease.MovedDraining, g.Moved)
	})
	t.Run("a session that was granted more stays where that is", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c"))
		w.acquire(session("s"))
		w.Put(candidate("a", unhealthy))
		second := w.grant(session("s"))
		w.Put(candidate("b", unhealthy))
		w.same("third", []string{"c"}, keysOf(w.grant(session("s"))))
		w.sync(candidate("a"), candidate("b"), candidate("c"))
		w.must(w.Undo(t.Context(), request(session("s")), second))
		w.same("fourth", []string{"c"}, keysOf(w.grant(session("s"))))
	})
	for name, rate := range map[string]float64{"one a minute": 1, "less than one a minute": 0.5} {
		t.Run("gives a budget back of "+name, func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			w.SetBudgets([]lease.Budget{{Target: "shop", PerProxyPerMinute: rate}})
			w.undo(target("shop"))
			w.pass(time.Second)
			w.acquire(target("shop"))
			w.restart(0)
			w.SetBudgets([]lease.Budget{{Target: "shop", PerProxyPerMinute: rate}})
			_ = refusal[*lease.BudgetError](w, target("shop"))
		})
	}
	t.Run("gives a batch's budget back", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		w.SetBudgets([]lease.Budget{{Target: "shop", PerProxyPerMinute: 1}})
		w.undo(target("shop"), count(2, 0))
		w.pass(time.Second)
		w.grant(target("shop"), count(2, 0))
		_ = refusal[*lease.BudgetError](w, target("shop"))
	})
	t.Run("takes nobody's turn", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		w.undo(by("one"))
		w.pass(time.Second)
		l := w.acquire(by("holder"))
		first, second := w.wait(by("one")), w.wait(by("two"))
		w.release(l.ID)
		first.granted()
		second.waits()
	})
	t.Run("so does what is given back since its client went away", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b", latency(50)))
		w.SetBudgets([]lease.Budget{{Target: "shop", PerProxyPerMinute: 0.5}})
		unblock := w.journal.block()
		gone := w.start(session("s"), target("shop"))
		eventually.Until(t, "it is granted", func() bool { n, _ := w.Totals(); return n == 1 })
		gone.cancel()
		unblock()
		gone.refused(context.Canceled)
		w.Put(candidate("a", unhealthy))
		w.same("moved", "", w.grant(session("s"), target("shop")).Moved)
	})
}
