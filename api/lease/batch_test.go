package lease_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestBatch(t *testing.T) {
	t.Run("gets all, of the proxies that a single request would get", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c", latency(99)))
		w.same("granted", []string{"a", "b", "c", "a", "b"}, keysOf(w.grant(count(5, 0))))
	})
	t.Run("gets nothing if it cannot get all", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2)), candidate("b", maxLeases(1)))
		want := lease.NoMatchError{Considered: 2, AtCapacity: 2, RetryAfter: time.Second}
		w.same("refusal", want, w.refused(count(4, 0)))
		w.same("list", []lease.Lease{}, w.list())
		w.grant(count(3, 0))
	})
	t.Run("gets what there is, if that is enough", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2)), candidate("b", maxLeases(1)))
		w.same("granted", []string{"a", "b", "a"}, keysOf(w.grant(count(100, 3))))
		w.refused(count(2, 1))
	})
	t.Run("of exclusive leases gets proxies of their own", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c"))
		w.acquire()
		w.refused(count(3, 0), exclusive)
		w.same("granted", []string{"b", "c"}, keysOf(w.grant(count(2, 0), exclusive)))
		w.same("the rest", []string{"a"}, keysOf(w.grant()))
	})
}

func TestBatchWaits(t *testing.T) {
	// full has n slots, all of which are leased.
	full := func(t *testing.T, n int) (*world, []lease.Lease) {
		w := newWorld(t, candidate("a", maxLeases(n)))
		return w, w.grant(count(n, 0), ttl(time.Hour), by("first")).Leases
	}
	t.Run("and keeps freed slots until it has enough", func(t *testing.T) {
		w, held := full(t, 3)
		c := w.wait(count(3, 2))
		w.release(held[0].ID)
		w.refused() // it is kept
		c.waits()
		w.pass(time.Second)
		w.release(held[1].ID)
		g := c.granted()
		w.same("granted", []string{"a", "a"}, keysOf(g))
		w.same("waited", time.Second, g.Waited)
	})
	t.Run("others get what it has kept when its time is over", func(t *testing.T) {
		w, held := full(t, 2)
		batch, single := w.wait(count(2, 0), waiting(10*time.Second)), w.wait()
		w.release(held[0].ID)
		single.waits()
		w.pass(10 * time.Second)
		single.granted()
		batch.end()
		var none *lease.NoMatchError
		if !asError(batch.err, &none) {
			t.Errorf("error %v", batch.err)
		}
	})
	t.Run("others get what it has kept when it goes away", func(t *testing.T) {
		w, held := full(t, 2)
		batch, single := w.wait(count(2, 0)), w.wait()
		w.release(held[0].ID)
		batch.cancel()
		batch.end()
		single.granted()
	})
	t.Run("one batch of a pool keeps slots, the next one waits for it", func(t *testing.T) {
		w, held := full(t, 4)
		first, second := w.wait(count(2, 0), by("a")), w.wait(count(2, 0), by("b"))
		w.release(held[0].ID, held[1].ID)
		w.same("granted", 2, len(first.granted().Leases))
		second.waits()
		w.release(held[2].ID, held[3].ID)
		second.granted()
	})
	t.Run("in the order of all who wait", func(t *testing.T) {
		w, held := full(t, 3)
		batch := w.wait(count(2, 0))
		w.release(held[0].ID)
		urgent := w.wait(priority(5), by("urgent"))
		w.release(held[1].ID)
		urgent.granted()
		w.release(held[2].ID)
		batch.granted()
	})
	t.Run("no batch is in the way of one that can have what it cannot", func(t *testing.T) {
		w, held := full(t, 2)
		resting := w.wait(count(2, 0), target("shop"))
		_, err := w.Rest(t.Context(), "uid-a", "shop", time.Hour)
		w.must(err)
		large, small := w.wait(count(3, 0), by("b")), w.wait(count(2, 0), by("b"))
		w.release(held[0].ID)
		small.waits()
		w.release(held[1].ID)
		small.granted()
		large.waits()
		resting.waits()
	})
	t.Run("what it has kept goes to one behind the next, which cannot have it", func(t *testing.T) {
		w, held := full(t, 1)
		first := w.wait(count(2, 0))
		resting := w.wait(count(2, 0), target("shop"))
		_, err := w.Rest(t.Context(), "uid-a", "shop", time.Hour)
		w.must(err)
		last := w.wait(count(2, 1))
		w.release(held[0].ID)
		last.waits()
		first.cancel()
		first.end()
		w.same("granted", []string{"a"}, keysOf(last.granted()))
		resting.waits()
	})
	t.Run("a slot of a proxy that is lent no more is let go", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", maxLeases(1)), candidate("c", unhealthy))
		held := w.grant(count(2, 0), ttl(time.Hour)).Leases
		batch := w.wait(count(2, 0))
		w.release(held[0].ID)
		w.Put(candidate("a", maxLeases(1), draining))
		w.release(held[1].ID)
		batch.waits()
		w.Put(candidate("c"))
		w.same("granted", []string{"b", "c"}, keysOf(batch.granted()))
	})
	t.Run("a slot of a proxy that it may not have any more is let go", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2)), candidate("b", maxLeases(1), latency(99)))
		w.acquire(inRegion("eu"))
		batch := w.wait(count(2, 0), exclusive, inRegion("eu")) // keeps b
		w.Put(candidate("b", maxLeases(1), region("us")))
		w.Put(candidate("c", maxLeases(1)))
		batch.waits()
		w.Put(candidate("d", maxLeases(1)))
		w.same("granted", []string{"c", "d"}, keysOf(batch.granted()))
	})
	t.Run("slots are let go of a proxy that may have fewer leases than before", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", maxLeases(3), latency(99)))
		held := w.acquire(ttl(time.Hour))
		batch := w.wait(count(4, 0)) // keeps all of b
		w.Put(candidate("b", maxLeases(1), latency(99)))
		w.Put(candidate("a", maxLeases(2)))
		w.release(held.ID)
		batch.waits()
		w.same("loads", map[string]int{"uid-a": 2, "uid-b": 1}, w.Loads())
		w.Put(candidate("c", maxLeases(1)))
		w.same("granted", []string{"b", "a", "a", "c"}, keysOf(batch.granted()))
	})
	t.Run("a slot of a proxy that rests for it is let go, and may be had for another target", func(t *testing.T) {
		w, held := full(t, 2)
		batch, other := w.wait(count(2, 0), target("shop")), w.wait(target("other"))
		w.release(held[0].ID)
		other.waits()
		w.report(held[1], lease.Report{Result: lease.ResultRateLimited, Target: "shop"})
		other.granted()
		batch.waits()
	})
}

// TestManyPools waits in a pool while others are asked about than are remembered.
func TestManyPools(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	l := w.acquire(inRegion("eu"), ttl(time.Hour))
	c := w.wait(inRegion("eu"))
	for n := range 600 {
		w.refused(inRegion(fmt.Sprint(n)))
	}
	w.release(l.ID)
	c.granted()
	w.same("contradictions", []string(nil), w.Inconsistencies())
}
