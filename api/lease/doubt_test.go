package lease_test

import (
	"errors"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// TestOlderView opens an engine on a fleet as it was a while ago.
func TestOlderView(t *testing.T) {
	older, newer := candidate("a", version(1)), candidate("a", version(2), host("10.0.0.2"))
	// newEngine lends a as it is now, which rests for shop, and crashes.
	newEngine := func(t *testing.T) (*world, lease.Lease) {
		w := newWorld(t, older)
		w.Put(newer)
		l := w.acquire(target("shop"))
		w.banned(l)
		w.list()
		w.crash(0)
		return w, l
	}
	keeps := func(w *world, l lease.Lease) {
		w.t.Helper()
		w.same("list", []string{l.ID}, idsOf(w.list()))
		told, err := w.renew(l, time.Minute)
		w.must(err)
		w.same("healthy", false, told.Healthy)
		w.same("refusal", lease.NoMatchError{Considered: 1, Unhealthy: 1, RetryAfter: 5 * time.Second}, w.refused())
		w.same("cooldowns", 1, len(w.facts("a").Cooldowns))
		w.same("contradictions", []string(nil), w.Inconsistencies())
	}
	for name, view := range map[string][]lease.Candidate{"the former address": {older}, "no such proxy": {}} {
		t.Run(name+" ends nothing, and is not lent", func(t *testing.T) {
			w, l := newEngine(t)
			w.sync(view...)
			keeps(w, l)
			w.pass(30*time.Second - 1)
			w.sync(view...)
			keeps(w, l)
			w.crash(0)
			w.sync(view...)
			keeps(w, l)
			w.Put(newer)
			w.pass(30 * time.Second)
			w.same("list", []string{l.ID}, idsOf(w.list()))
			w.same("granted", "10.0.0.2", w.acquire().Proxy.Host)
			w.refused(target("shop"))
		})
		t.Run(name+" is believed after a while", func(t *testing.T) {
			w, l := newEngine(t)
			w.sync(view...)
			w.pass(30 * time.Second)
			if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew: %v", err)
			}
			if len(view) > 0 {
				w.same("granted", "10.0.0.1", w.acquire(target("shop")).Proxy.Host)
			}
			w.same("contradictions", []string(nil), w.Inconsistencies())
		})
		t.Run(name+" does not outlast that the proxy is removed", func(t *testing.T) {
			w, l := newEngine(t)
			w.sync(view...)
			w.Remove("uid-a")
			if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew: %v", err)
			}
			w.same("contradictions", []string(nil), w.Inconsistencies())
		})
	}
	t.Run("is ignored by an engine that knows better", func(t *testing.T) {
		w := newWorld(t, newer)
		l := w.acquire()
		w.Put(older)
		w.sync(older)
		w.same("list", []string{l.ID}, idsOf(w.list()))
		w.same("granted", "10.0.0.2", w.acquire().Proxy.Host)
		w.Put(candidate("a", host("10.0.0.3"))) // of no known version
		w.same("list", []lease.Lease{}, w.list())
	})
}

// TestNoAddress has an instance replaced: meanwhile its proxy has no address.
func TestNoAddress(t *testing.T) {
	newReplaced := func(t *testing.T) *world {
		w := newWorld(t, candidate("a", banLimit(2, time.Hour)))
		l := w.acquire(target("shop"))
		w.banned(l)
		w.Put(candidate("a", banLimit(2, time.Hour), host(""), func(c *lease.Candidate) { c.Port = 0 }))
		if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrProxyGone) {
			t.Errorf("renew: %v", err)
		}
		w.same("refusal", lease.NoMatchError{Considered: 1, Unhealthy: 1, RetryAfter: 5 * time.Second}, w.refused())
		return w
	}
	for name, restart := range map[string]bool{"": false, ", also after a restart": true} {
		t.Run("the same address is as banned as before"+name, func(t *testing.T) {
			w := newReplaced(t)
			if restart {
				w.restart(0)
			}
			w.Put(candidate("a", banLimit(2, time.Hour)))
			w.refused(target("shop"))
			w.acquire()
			w.same("bans", 1, w.facts("a").Bans)
		})
		t.Run("another address is not"+name, func(t *testing.T) {
			w := newReplaced(t)
			if restart {
				w.restart(0)
			}
			w.Put(candidate("a", banLimit(2, time.Hour), host("10.0.0.2")))
			w.acquire(target("shop"))
			w.same("bans", 0, w.facts("a").Bans)
		})
	}
}
