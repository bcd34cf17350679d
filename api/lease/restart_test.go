package lease_test

import (
	"errors"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

func TestRestart(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(2)), candidate("b"), candidate("c", maxLeases(2)))
	first := w.acquire(session("s"), target("shop"), keyed("k", "body"))
	alone := w.acquire(exclusive, by("other"))
	ended := w.acquire(ttl(time.Second), target("late"))
	w.pass(time.Second)
	w.report(first, lease.Report{Result: lease.ResultBanned, Target: "api"})
	before := w.list()
	w.restart(0)
	for i := range before { // the rest is not the client's to know
		p := &before[i].Proxy
		*p = lease.Candidate{Key: p.Key, UID: p.UID, Version: p.Version, Scheme: p.Scheme, Host: p.Host, Port: p.Port, Attributes: p.Attributes}
	}
	w.same("list", before, w.list())
	if _, err := w.renew(ended, 0); !errors.Is(err, lease.ErrExpired) {
		t.Errorf("renew of one that ended: %v", err)
	}
	w.banned(ended) // a late report
	w.same("session", []string{"a"}, keysOf(w.grant(session("s"))))
	for range 2 { // neither a, which is full, nor b, which is somebody's own
		w.same("granted", []string{"c"}, keysOf(w.grant()))
	}
	w.same("refusal", lease.NoMatchError{Considered: 3, AtCapacity: 3, RetryAfter: time.Second}, w.refused())
	w.release(alone.ID)
	w.acquire(by("other"), exclusive)
	w.same("contradictions", []string(nil), w.Inconsistencies())
}

// TestEngineTime ends leases and cooldowns neither early nor never, whatever the wall clock
// does and however often the process dies.
func TestEngineTime(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run("a clock that steps "+name+" ends nothing early and keeps nothing for ever", func(t *testing.T) {
			w := newWorld(t, candidate("a", maxLeases(2)))
			l := w.acquire(target("shop"))
			w.banned(w.acquire(target("other")))
			w.pass(20 * time.Second)
			w.list()
			w.restart(step)
			left := w.list()[0].ExpiresAt.Sub(w.clock.Now())
			if left < 40*time.Second || left > 46*time.Second {
				t.Errorf("%s are left of a lease of a minute after 20 s", left)
			}
			w.pass(39 * time.Second)
			w.same("list", []string{l.ID, "lease-2"}, idsOf(w.list()))
			w.pass(7 * time.Second)
			w.same("list", []lease.Lease{}, w.list())
			w.pass(lease.DefaultBan - 70*time.Second)
			w.refused(target("other"))
			w.pass(10 * time.Second)
			w.acquire(target("other"))
		})
	}
	t.Run("a crash loop ends nothing early and keeps nothing for ever", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(ttl(10 * time.Second))
		lives := 0
		for ; lives < 100; lives++ {
			w.restart(time.Minute) // it is down for longer than it is up
			for range 10 {
				w.pass(100 * time.Millisecond)
				eventually.Until(t, "it has looked at its alarms", func() bool { return w.clock.HasWaiters() })
				w.list()
			}
			if len(w.list()) == 0 {
				break
			}
		}
		if lives < 9 || lives > 20 {
			t.Errorf("a lease of 10 s lasted for %d lives of one", lives)
		}
		if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("renew: %v", err)
		}
	})
	t.Run("time stands still until the fleet is known", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire()
		w.crash(0)
		w.pass(time.Hour)
		w.Sync(w.fleet)
		w.same("list", []string{l.ID}, idsOf(w.list()))
		w.pass(time.Minute)
		w.same("list", []lease.Lease{}, w.list())
	})
	t.Run("an engine that only waits keeps its time every five seconds", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.acquire(ttl(time.Hour))
		for range 600 {
			w.pass(time.Second)
			w.list()
		}
		w.restart(0)
		if left := w.list()[0].ExpiresAt.Sub(w.clock.Now()); left < 50*time.Minute || left > 50*time.Minute+5*time.Second {
			t.Errorf("%s are left of an hour after 10 minutes", left)
		}
	})
}
