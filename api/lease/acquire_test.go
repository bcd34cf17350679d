package lease_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestAcquire(t *testing.T) {
	t.Run("fewest active leases go before latency, latency before name", func(t *testing.T) {
		w := newWorld(t, candidate("c", latency(5)), candidate("b", latency(50)), candidate("a", latency(50)))
		var got []string
		for range 7 {
			got = append(got, keysOf(w.grant())...)
		}
		w.same("order", []string{"c", "a", "b", "c", "a", "b", "c"}, got)
	})
	t.Run("a lease that ended makes its proxy the one with the fewest", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c"))
		w.acquire()
		b := w.acquire()
		w.acquire()
		w.release(b.ID)
		w.same("next", []string{"b"}, keysOf(w.grant()))
	})
	t.Run("a lease says who has what until when", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		want := lease.Lease{
			ID: "lease-1", Client: "crawler", Target: "shop", Session: "s", Exclusive: true, Proxy: candidate("a"),
			TTL: time.Minute, GrantedAt: start, ExpiresAt: start.Add(time.Minute),
		}
		g := w.grant(target("shop"), session("s"), exclusive)
		w.same("grant", lease.Grant{Leases: []lease.Lease{want}}, g)
		w.same("list", []lease.Lease{want}, w.list())
		counts, err := w.Counts(t.Context())
		w.must(err)
		w.same("counts", map[string]int{"uid-a": 1}, counts)
	})
	t.Run("a selector matches all of its attributes", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b", region("us")))
		w.same("us", []string{"b"}, keysOf(w.grant(inRegion("us"))))
		for _, selector := range []map[string]string{{"region": "asia"}, {"region": "us", "kind": ""}, {"": "us"}} {
			none := w.refused(func(r *lease.Request) { r.Selector = selector })
			w.same("refusal", lease.NoMatchError{}, none)
		}
	})
	t.Run("no proxy has more leases than it may", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", maxLeases(2)), candidate("none", maxLeases(0)))
		var got []string
		for range 3 {
			got = append(got, keysOf(w.grant())...)
		}
		w.same("granted", []string{"a", "b", "b"}, got)
		w.same("refusal", lease.NoMatchError{Considered: 3, AtCapacity: 3, RetryAfter: time.Second}, w.refused())
	})
	t.Run("an exclusive lease shares its proxy with no other", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		w.acquire() // on a
		w.same("exclusive", []string{"b"}, keysOf(w.grant(exclusive)))
		w.refused(exclusive)
		for range 9 {
			w.same("shared", []string{"a"}, keysOf(w.grant()))
		}
		w.same("refusal", lease.NoMatchError{Considered: 2, AtCapacity: 2, RetryAfter: time.Second}, w.refused())
		w.release("lease-2")
		w.same("shared again", []string{"b"}, keysOf(w.grant()))
	})
	t.Run("a request of nobody takes nothing", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Acquire(ctx, request()); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		w.acquire()
	})
	t.Run("nothing is lent before the fleet is known", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire()
		w.crash(0)
		w.refusedWith(lease.ErrUnavailable)
		if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrUnavailable) {
			t.Errorf("renew: %v", err)
		}
		if _, err := w.List(t.Context(), anybody); !errors.Is(err, lease.ErrUnavailable) {
			t.Errorf("list: %v", err)
		}
		w.Put(candidate("a"))
		w.refusedWith(lease.ErrUnavailable)
		w.Sync(w.fleet)
		w.acquire()
	})
}

func TestRefusal(t *testing.T) {
	t.Run("counts every matching proxy once", func(t *testing.T) {
		w := newWorld(t,
			candidate("full", maxLeases(1)), candidate("resting"), candidate("sick", unhealthy, draining, maxLeases(0)),
			candidate("leaving", draining), candidate("aside"), candidate("elsewhere", region("us")))
		w.SetAside([]string{"uid-aside", "uid-sick", "uid-leaving", "uid-unknown"}, time.Hour)
		for _, l := range w.grant(target("shop"), inRegion("eu"), count(2, 0)).Leases {
			w.banned(l)
		}
		want := lease.NoMatchError{
			Considered: 5, AtCapacity: 1, InCooldown: 1, Unhealthy: 1, Draining: 1, Unusable: 1, RetryAfter: time.Second,
		}
		w.same("refusal", want, w.refused(target("shop"), inRegion("eu")))
	})
	t.Run("tells when the first cooldown of the pool ends", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"), candidate("c", region("us")))
		for _, l := range w.grant(target("shop"), count(3, 0)).Leases {
			after := map[string]time.Duration{"crawl/a": 40 * time.Second, "crawl/b": 25 * time.Second, "crawl/c": time.Second}
			w.report(l, lease.Report{Result: lease.ResultRateLimited, RetryAfter: after[l.Proxy.Key]})
		}
		w.pass(500 * time.Millisecond)
		want := lease.NoMatchError{Considered: 2, InCooldown: 2, RetryAfter: 24500 * time.Millisecond}
		w.same("refusal", want, w.refused(target("shop"), inRegion("eu")))
		w.Put(candidate("b", unhealthy))
		want = lease.NoMatchError{Considered: 2, InCooldown: 1, Unhealthy: 1, RetryAfter: 39500 * time.Millisecond}
		w.same("refusal without the unhealthy one", want, w.refused(target("shop"), inRegion("eu")))
	})
	t.Run("of a sick pool asks for patience", func(t *testing.T) {
		w := newWorld(t, candidate("a", unhealthy))
		w.same("refusal", lease.NoMatchError{Considered: 1, Unhealthy: 1, RetryAfter: 5 * time.Second}, w.refused())
	})
	t.Run("of an empty fleet considers nothing", func(t *testing.T) {
		w := newWorld(t)
		w.same("refusal", lease.NoMatchError{}, w.refused())
	})
}

func TestSetAside(t *testing.T) {
	w := newWorld(t, candidate("a"), candidate("b"))
	w.SetAside([]string{"uid-a"}, time.Minute)
	for range 10 {
		w.same("granted", []string{"b"}, keysOf(w.grant(ttl(time.Hour))))
	}
	waiter := w.wait(ttl(time.Hour))
	w.pass(50 * time.Second)
	waiter.waits()
	w.SetAside([]string{"uid-a"}, 5*time.Second)
	w.pass(5 * time.Second)
	w.same("granted", []string{"a"}, keysOf(waiter.granted()))
}

// TestManyRest makes the pick pass over more proxies than it looks at one by one.
func TestManyRest(t *testing.T) {
	var fleet []lease.Candidate
	for n := range 200 {
		fleet = append(fleet, candidate(string(rune('a'+n/26))+string(rune('a'+n%26)), latency(int64(n))))
	}
	w := newWorld(t, fleet...)
	for _, l := range w.grant(target("shop"), count(190, 0)).Leases {
		w.banned(l)
		w.release(l.ID)
	}
	w.same("the first that does not rest", fleet[190].Key, w.acquire(target("shop")).Proxy.Key)
	w.same("the first for another target", fleet[0].Key, w.acquire(target("other")).Proxy.Key)
	w.same("the next that does not rest", fleet[191].Key, w.acquire(target("shop"), exclusive).Proxy.Key)
}

// TestAllOfManyRest counts more than are looked at one by one.
func TestAllOfManyRest(t *testing.T) {
	var fleet []lease.Candidate
	for n := range 2100 {
		fleet = append(fleet, candidate(fmt.Sprint(n)))
	}
	w := newWorld(t, fleet...)
	for _, l := range w.grant(target("shop"), count(2100, 0)).Leases {
		w.report(l, lease.Report{Result: lease.ResultRateLimited})
	}
	w.same("refusal", lease.NoMatchError{Considered: 2100, InCooldown: 2100, RetryAfter: 30 * time.Second}, w.refused(target("shop")))
	w.acquire(target("other"))
}
