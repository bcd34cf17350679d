package lease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// TestCooldownsOfOneProxy bounds what clients can have remembered of it.
func TestCooldownsOfOneProxy(t *testing.T) {
	rest := func(w *world, n int) {
		w.t.Helper()
		_, err := w.Rest(w.t.Context(), "uid-a", fmt.Sprint("host", n), time.Duration(n)*time.Minute)
		w.must(err)
	}
	t.Run("beyond 1,000 those nearest to their ends go, but bans that rest", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2000)))
		w.banned(w.acquire(target("tried"), ttl(time.Hour)))
		w.pass(lease.DefaultBan) // a trial may find out for a day
		w.banned(w.acquire(target("shop"), ttl(time.Hour)))
		for n := 1; n <= 1100; n++ {
			rest(w, n)
		}
		w.same("cooldowns", 1000, len(w.facts("a").Cooldowns))
		w.same("kept", 1000, len(w.journal.of('c')))
		w.refused(target("shop"))
		w.acquire(target("host101"))
		w.acquire(target("host102"))
		w.refused(target("host103"))
		w.same("trial", true, w.acquire(target("tried")).Trial)
		w.same("contradictions", []string(nil), w.Inconsistencies())
	})
	t.Run("a ban is taken in however many there are", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2000)))
		for n := range 16 * 64 {
			w.pass(100 * time.Millisecond)
			if n%64 == 0 {
				w.acquire(ttl(time.Hour))
			}
			l := lease.Lease{ID: fmt.Sprintf("lease-%d", n/64+1)}
			w.report(l, lease.Report{Result: lease.ResultBanned, Target: fmt.Sprint("host", n)})
		}
		w.same("cooldowns", 1000, len(w.facts("a").Cooldowns))
		w.acquire(target("host0"))
		w.refused(target("host1023"))
		w.same("contradictions", []string(nil), w.Inconsistencies())
	})
	t.Run("who waits for one that goes is served", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		for n := 1; n <= 1000; n++ {
			rest(w, n)
		}
		c := w.wait(target("host1"))
		rest(w, 1001)
		c.granted()
	})
}

// TestEndedLeases bounds how many of one client can still be reported on.
func TestEndedLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 100,000 leases")
	}
	w := newWorld(t, candidate("a", maxLeases(1_000_000)))
	other := w.acquire(by("other"), ttl(100*time.Millisecond))
	var early []lease.Lease
	for n := range 10 {
		early = append(early, w.acquire(ttl(time.Duration(n+1)*100*time.Millisecond)))
	}
	for range 999 {
		w.grant(count(100, 0), ttl(10*time.Second))
	}
	w.grant(count(92, 0), ttl(10*time.Second))
	told := func(l lease.Lease, want error) {
		t.Helper()
		if _, err := w.renew(l, 0); !errors.Is(err, want) {
			t.Errorf("renew of %s: %v, want %v", l.ID, err, want)
		}
	}
	w.pass(2 * time.Second)
	told(early[0], lease.ErrExpired)
	w.restart(0)
	w.pass(10 * time.Second)
	told(early[0], lease.ErrUnknown)
	told(early[1], lease.ErrUnknown)
	told(early[2], lease.ErrExpired)
	told(other, lease.ErrExpired)
	w.same("contradictions", []string(nil), w.Inconsistencies())
	w.same("kept", 100_001, len(w.journal.of('l')))
}

// TestTooManyKeys bounds the leases that the keys of one client remember.
func TestTooManyKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 100,000 leases")
	}
	w := newWorld(t, candidate("a", maxLeases(1_000_000)))
	for n := range 999 {
		w.grant(keyed(fmt.Sprint(n), "body"), count(100, 0))
	}
	w.acquire(keyed("single", "body"))
	w.refusedWith(lease.ErrTooManyKeys, keyed("too many", "body"), count(100, 1))
	w.grant(keyed("others", "body"), count(99, 0))
	w.refusedWith(lease.ErrTooManyKeys, keyed("one more", "body"))
	w.same("a known one", true, w.grant(keyed("7", "body"), count(100, 0)).Repeated)
	w.grant(keyed("one more", "body"), by("other"))
	w.grant()
	w.restart(0)
	w.refusedWith(lease.ErrTooManyKeys, keyed("one more", "body"))
	w.same("contradictions", []string(nil), w.Inconsistencies())
}
