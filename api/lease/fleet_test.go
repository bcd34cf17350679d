package lease_test

import (
	"errors"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestProxyGone(t *testing.T) {
	for name, after := range map[string][]lease.Candidate{
		"a deleted proxy ends its leases":             {},
		"another address ends its leases":             {candidate("a", host("10.0.0.2"))},
		"another port ends its leases":                {candidate("a", func(c *lease.Candidate) { c.Port++ })},
		"another scheme ends its leases":              {candidate("a", func(c *lease.Candidate) { c.Scheme = "https" })},
		"another object of that name ends its leases": {candidate("a", func(c *lease.Candidate) { c.UID = "uid-new" })},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, candidate("a", maxLeases(1)))
			l := w.acquire(target("shop"))
			w.sync(after...)
			if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew: %v", err)
			}
			w.same("list", []lease.Lease{}, w.list())
			w.banned(l)
			if len(after) > 0 {
				w.acquire(target("shop")) // neither slot nor ban went over to the new address
			}
			w.restart(0)
			if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew after a restart: %v", err)
			}
		})
	}
	t.Run("a proxy that is gone while nobody serves ends its leases", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		a, b := w.acquire(), w.acquire()
		w.crash(0)
		w.sync(candidate("a", host("10.0.0.2")))
		w.pass(30 * time.Second) // until then it may only be that it is not known yet
		for _, l := range []lease.Lease{a, b} {
			if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew of a lease of %s: %v", l.Proxy.Key, err)
			}
		}
	})
	t.Run("a new address forgets the bans of the old one", func(t *testing.T) {
		w := newWorld(t, candidate("a", banLimit(2, time.Hour)))
		w.banned(w.acquire(target("shop")))
		w.refused(target("shop"))
		w.sync(candidate("a", banLimit(2, time.Hour), host("10.0.0.2")))
		w.same("facts", lease.Facts{}, w.facts("a"))
		w.acquire(target("shop"))
	})
	t.Run("the end of a lease that the proxy outlived counts nothing twice", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		old := w.acquire()
		w.sync(candidate("a", maxLeases(1), host("10.0.0.2")))
		w.acquire()
		w.release(old.ID)
		w.refused()
	})
	t.Run("nobody asks about a proxy that is gone", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.Remove("uid-a")
		w.Remove("uid-a")
		if _, err := w.Facts(t.Context(), "uid-a"); !errors.Is(err, lease.ErrUnknownProxy) {
			t.Errorf("facts: %v", err)
		}
		if _, err := w.Rest(t.Context(), "uid-a", "", time.Second); !errors.Is(err, lease.ErrUnknownProxy) {
			t.Errorf("rest: %v", err)
		}
		if err := w.Clear(t.Context(), "uid-a", nil); !errors.Is(err, lease.ErrUnknownProxy) {
			t.Errorf("clear: %v", err)
		}
	})
}

func TestProxyChanges(t *testing.T) {
	t.Run("other attributes are found, the old ones no more", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.acquire(inRegion("eu"))
		w.Put(candidate("a", region("us")))
		w.same("refusal", lease.NoMatchError{}, w.refused(inRegion("eu")))
		w.acquire(inRegion("us"))
		w.same("leases", 2, w.facts("a").Active)
	})
	t.Run("fewer leases end none that there are", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2)))
		first, second := w.acquire(), w.acquire()
		w.Put(candidate("a", maxLeases(1)))
		w.refused()
		w.release(first.ID)
		w.refused()
		w.release(second.ID)
		w.acquire()
	})
	t.Run("more leases, or health, serve who waits", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", unhealthy, maxLeases(1)))
		w.acquire()
		first, second := w.wait(), w.wait()
		w.Put(candidate("a", maxLeases(2)))
		w.same("first", []string{"a"}, keysOf(first.granted()))
		second.waits()
		w.Put(candidate("b", maxLeases(1)))
		w.same("second", []string{"b"}, keysOf(second.granted()))
	})
	t.Run("another latency is another order", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b"))
		w.Put(candidate("b", latency(1)))
		w.same("first", []string{"b"}, keysOf(w.grant()))
	})
	t.Run("draining proxies are not lent, and keep their leases", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire()
		w.Put(candidate("a", draining))
		w.same("refusal", lease.NoMatchError{Considered: 1, Draining: 1, RetryAfter: 5 * time.Second}, w.refused())
		w.same("list", []string{l.ID}, idsOf(w.list()))
	})
}
