package lease_test

import (
	"context"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

func TestKey(t *testing.T) {
	k := keyed("k", "body")
	newWithKey := func(t *testing.T) (*world, lease.Grant) {
		w := newWorld(t, candidate("a"), candidate("b"))
		return w, w.grant(k, count(2, 0))
	}
	t.Run("that is repeated gets the same leases while they live, and ten minutes after", func(t *testing.T) {
		w, g := newWithKey(t)
		want := g
		want.Repeated = true
		w.same("at once", want, w.grant(k))
		w.same("leases", 2, len(w.list()))
		w.restart(0)
		w.same("after a restart", idsOf(g.Leases), idsOf(w.grant(k).Leases))
		w.release(g.Leases[0].ID)
		w.pass(time.Minute)
		w.same("the other one ran out", []lease.Lease{}, w.list())
		w.restart(0)
		w.pass(10*time.Minute - time.Nanosecond)
		w.same("just in time", idsOf(g.Leases), idsOf(w.grant(k).Leases))
		w.pass(time.Nanosecond)
		w.same("later", false, w.grant(k).Repeated)
	})
	t.Run("lives as long as a lease that is renewed", func(t *testing.T) {
		w, g := newWithKey(t)
		for range 20 {
			w.pass(50 * time.Second)
			if _, err := w.renew(g.Leases[1], 0); err != nil {
				t.Fatal(err)
			}
		}
		w.same("ids", idsOf(g.Leases), idsOf(w.grant(k).Leases))
	})
	t.Run("says again why the session moved", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		w.acquire(session("s"))
		w.Put(candidate("a", unhealthy))
		w.grant(session("s"), k)
		w.restart(0)
		w.same("moved", lease.MovedUnhealthy, w.grant(session("s"), k).Moved)
	})
	t.Run("of another request is refused", func(t *testing.T) {
		w, _ := newWithKey(t)
		w.refusedWith(lease.ErrKeyReused, keyed("k", "another body"))
		w.restart(0)
		w.refusedWith(lease.ErrKeyReused, keyed("k", "another body"))
	})
	t.Run("is one client's own", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		for _, who := range []func(*lease.Request){
			func(r *lease.Request) { r.Client, r.Key, r.Session = "a", "b c", "b c" },
			func(r *lease.Request) { r.Client, r.Key, r.Session = "a b", "c", "c" },
		} {
			w.same("repeated", false, w.grant(who).Repeated)
			w.restart(0)
			w.same("repeated", true, w.grant(who).Repeated)
		}
		w.pass(time.Minute)
		w.same("keys kept", 2, len(w.journal.of('k')))
		w.same("sessions kept", 2, len(w.journal.of('s')))
	})
	t.Run("is not remembered for a refusal", func(t *testing.T) {
		w := newWorld(t, candidate("a", unhealthy))
		w.refused(k)
		w.refused(keyed("k", "another body"))
		c := w.wait(k)
		c.cancel()
		c.end()
		w.Put(candidate("a"))
		w.same("repeated", false, w.grant(keyed("k", "another body")).Repeated)
	})
	t.Run("is in use while its request waits", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		l := w.acquire()
		c := w.wait(k)
		w.refusedWith(lease.ErrKeyInUse, k)
		w.refusedWith(lease.ErrKeyReused, keyed("k", "another body"))
		w.release(l.ID)
		g := c.granted()
		w.same("ids", idsOf(g.Leases), idsOf(w.grant(k).Leases))
	})
	t.Run("is repeated whatever the quota and the budget say", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.SetBudgets([]lease.Budget{{Target: "shop", PerProxyPerMinute: 1}})
		edit := []func(*lease.Request){k, target("shop"), quota(lease.Quota{Leases: 1})}
		w.grant(edit...)
		w.same("repeated", true, w.grant(edit...).Repeated)
	})
}

func TestKeyOfWhoWentAway(t *testing.T) {
	k := keyed("k", "body")
	t.Run("is free again", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		unblock := w.journal.block()
		gone := w.start(k)
		eventually.Until(t, "it is granted", func() bool { n, _ := w.Totals(); return n == 1 })
		gone.cancel()
		unblock()
		gone.refused(context.Canceled)
		w.same("repeated", false, w.grant(k).Repeated)
	})
	t.Run("is theirs who repeated the request meanwhile", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		unblock := w.journal.block()
		gone := w.start(k)
		eventually.Until(t, "it is granted", func() bool { n, _ := w.Totals(); return n == 1 })
		again := w.start(k)
		eventually.Until(t, "it is repeated", func() bool { return w.Told("crawler", "k") })
		gone.cancel()
		unblock()
		gone.refused(context.Canceled)
		l := again.granted().Leases[0]
		w.same("list", []string{l.ID}, idsOf(w.list()))
	})
	t.Run("takes nothing with a request that was repeated", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(k)
		unblock := w.journal.block()
		other := w.start()
		eventually.Until(t, "something is under way", func() bool { n, _ := w.Totals(); return n == 2 })
		gone := w.start(k)
		eventually.Until(t, "it is repeated", func() bool { return w.Told("crawler", "k") })
		gone.cancel()
		unblock()
		gone.refused(context.Canceled)
		other.granted()
		_, err := w.renew(l, 0)
		w.must(err)
	})
}
