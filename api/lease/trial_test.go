package lease_test

import (
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// banAndWaitForTrial has the only proxy of w banned by shop, and lets the time of that pass.
func banAndWaitForTrial(w *world) {
	w.t.Helper()
	l := w.acquire(target("shop"))
	w.banned(l)
	w.release(l.ID)
	w.pass(lease.DefaultBan)
}

func TestTrial(t *testing.T) {
	newTrial := func(t *testing.T) *world {
		w := newWorld(t, candidate("a"))
		banAndWaitForTrial(w)
		return w
	}
	t.Run("a single lease finds out whether a ban is over", func(t *testing.T) {
		w := newTrial(t)
		if l := w.acquire(target("shop")); !l.Trial {
			t.Error("the first lease after a ban is no trial")
		}
		w.same("refusal", lease.NoMatchError{Considered: 1, InCooldown: 1, RetryAfter: 5 * time.Second}, w.refused(target("shop")))
		if l := w.acquire(target("other")); l.Trial {
			t.Error("a lease for another target is a trial")
		}
		w.same("trial", true, w.facts("a").Cooldowns[0].Trial)
	})
	t.Run("ok of the trial clears the ban", func(t *testing.T) {
		w := newTrial(t)
		w.report(w.acquire(target("shop")), lease.Report{Result: lease.ResultOK})
		w.same("cooldowns", 0, len(w.facts("a").Cooldowns))
		if w.acquire(target("shop")).Trial {
			t.Error("a trial of nothing")
		}
		w.banned(w.acquire(target("shop")))
		w.same("strikes", 1, w.facts("a").Cooldowns[0].Strikes)
	})
	t.Run("ok of any other lease clears nothing", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		before, other := w.acquire(target("shop"), ttl(time.Hour)), w.acquire(target("other"), ttl(time.Hour))
		banAndWaitForTrial(w)
		w.report(before, lease.Report{Result: lease.ResultOK})
		w.report(other, lease.Report{Result: lease.ResultOK, Target: "shop"})
		trial := w.acquire(target("shop"))
		w.report(trial, lease.Report{Result: lease.ResultOK, Target: "other"})
		w.report(before, lease.Report{Result: lease.ResultOK})
		w.refused(target("shop"))
	})
	t.Run("a trial that says nothing is followed by another", func(t *testing.T) {
		w := newTrial(t)
		w.release(w.acquire(target("shop")).ID)
		silent := w.acquire(target("shop"))
		w.pass(time.Minute)
		if next := w.acquire(target("shop")); !silent.Trial || !next.Trial {
			t.Errorf("trials: %v, then %v", silent.Trial, next.Trial)
		}
		t.Run("and may still say ok", func(t *testing.T) {
			w.report(silent, lease.Report{Result: lease.ResultOK})
			w.acquire(target("shop"))
			w.acquire(target("shop"))
		})
	})
	t.Run("ok after a later ban clears nothing", func(t *testing.T) {
		w := newTrial(t)
		trial := w.acquire(target("shop"))
		w.banned(trial)
		w.report(trial, lease.Report{Result: lease.ResultOK})
		w.refused(target("shop"))
		w.same("strikes", 2, w.facts("a").Cooldowns[0].Strikes)
	})
	limited := func(w *world, l lease.Lease) {
		w.report(l, lease.Report{Result: lease.ResultRateLimited, Target: "shop", RetryAfter: time.Minute})
	}
	t.Run("a rate limit during the trial lets nobody else try", func(t *testing.T) {
		w := newTrial(t)
		other, trial := w.acquire(ttl(time.Hour)), w.acquire(target("shop"), ttl(time.Hour))
		limited(w, other)
		w.pass(time.Minute)
		w.refused(target("shop"))
		w.report(trial, lease.Report{Result: lease.ResultOK})
		w.same("trial", false, w.acquire(target("shop")).Trial)
	})
	t.Run("a ban that another lease tells of ends the trial", func(t *testing.T) {
		w := newTrial(t)
		other, trial := w.acquire(ttl(time.Hour)), w.acquire(target("shop"), ttl(time.Hour))
		w.report(other, lease.Report{Result: lease.ResultBanned, Target: "shop"})
		w.report(trial, lease.Report{Result: lease.ResultOK})
		w.refused(target("shop"))
		w.pass(2 * lease.DefaultBan)
		w.same("trial", true, w.acquire(target("shop")).Trial)
	})
	t.Run("ok during a rate limit clears the ban, and leaves the limit", func(t *testing.T) {
		w := newTrial(t)
		trial := w.acquire(target("shop"), ttl(time.Hour))
		limited(w, trial)
		w.report(trial, lease.Report{Result: lease.ResultOK})
		want := []lease.Cooldown{{Target: "shop", Result: lease.ResultRateLimited, Until: w.clock.Now().Add(time.Minute)}}
		w.same("cooldowns", want, w.facts("a").Cooldowns)
		w.restart(0)
		w.refused(target("shop"))
		w.pass(time.Minute)
		w.same("trial", false, w.acquire(target("shop")).Trial)
	})
	t.Run("who waits for the end of a ban gets the trial", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.banned(w.acquire(target("shop")))
		w.pass(lease.DefaultBan - time.Second)
		first, second := w.wait(target("shop")), w.wait(target("shop"))
		w.pass(time.Second)
		l := first.granted().Leases[0]
		second.waits()
		w.report(l, lease.Report{Result: lease.ResultOK})
		second.granted()
	})
	t.Run("a batch gets one trial of a proxy, not many", func(t *testing.T) {
		w := newTrial(t)
		g := w.grant(target("shop"), count(3, 1))
		w.same("granted", []string{"a"}, keysOf(g))
		w.refused(target("shop"))
	})
	t.Run("a slot that a batch keeps is the trial", func(t *testing.T) {
		w := newTrial(t)
		batch := w.wait(target("shop"), count(2, 0))
		w.refused(target("shop"))
		w.acquire(target("other"))
		w.Put(candidate("b", host("10.0.0.2")))
		for _, l := range batch.granted().Leases {
			w.same("trial of "+l.Proxy.Key, l.Proxy.Key == "crawl/a", l.Trial)
		}
	})
	t.Run("a batch that gives up lets another one try", func(t *testing.T) {
		w := newTrial(t)
		batch := w.wait(target("shop"), count(2, 0))
		batch.cancel()
		batch.end()
		w.acquire(target("shop"))
	})
	t.Run("a trial is one after a restart", func(t *testing.T) {
		w := newTrial(t)
		trial := w.acquire(target("shop"))
		w.restart(0)
		w.refused(target("shop"))
		w.report(trial, lease.Report{Result: lease.ResultOK})
		w.acquire(target("shop"))
	})
	t.Run("bans in a row are forgotten when nobody tries for a day", func(t *testing.T) {
		w := newTrial(t)
		w.pass(24*time.Hour - time.Nanosecond)
		w.same("strikes", 1, w.facts("a").Cooldowns[0].Strikes)
		w.pass(time.Nanosecond)
		w.same("cooldowns", 0, len(w.facts("a").Cooldowns))
	})
}
