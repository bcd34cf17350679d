package lease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// restsFor fails the test unless the only proxy of w is lent for a target again after d.
func restsFor(w *world, d time.Duration, name string) {
	w.t.Helper()
	w.pass(d - time.Nanosecond)
	w.refused(target(name))
	w.pass(time.Nanosecond)
	w.release(w.acquire(target(name)).ID)
}

func TestRateLimit(t *testing.T) {
	limited := func(retry time.Duration) lease.Report {
		return lease.Report{Result: lease.ResultRateLimited, RetryAfter: retry}
	}
	t.Run("lasts 30 seconds, or as long as the target says", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(target("shop"), ttl(time.Hour))
		w.report(l, limited(0))
		want := []lease.Cooldown{{Target: "shop", Result: lease.ResultRateLimited, Until: start.Add(30 * time.Second)}}
		w.same("cooldowns", want, w.facts("a").Cooldowns)
		restsFor(w, 30*time.Second, "shop")
		w.report(l, limited(7*time.Second))
		restsFor(w, 7*time.Second, "shop")
		w.same("cooldowns", 0, len(w.facts("a").Cooldowns))
	})
	t.Run("that is shorter does not end a longer one", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(target("shop"))
		w.report(l, limited(50*time.Second))
		w.report(l, limited(time.Second))
		restsFor(w, 50*time.Second, "shop")
	})
	t.Run("needs no trial", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.report(w.acquire(target("shop")), limited(0))
		w.pass(30 * time.Second)
		for _, l := range w.grant(target("shop"), count(2, 0)).Leases {
			w.same("trial", false, l.Trial)
		}
	})
	t.Run("of a banned proxy keeps its strikes", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(target("shop"))
		w.banned(l)
		w.report(l, limited(time.Hour))
		want := []lease.Cooldown{{Target: "shop", Result: lease.ResultBanned, Until: start.Add(time.Hour), Strikes: 1}}
		w.same("cooldowns", want, w.facts("a").Cooldowns)
	})
}

func TestBan(t *testing.T) {
	t.Run("lasts ten minutes, twice as long each time, a day at most", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		want := 10 * time.Minute
		for strike := 1; strike <= 10; strike++ {
			l := w.acquire(target("shop"))
			w.banned(l)
			w.release(l.ID)
			w.same("strikes", strike, w.facts("a").Cooldowns[0].Strikes)
			restsFor(w, want, "shop")
			want = min(2*want, 24*time.Hour)
		}
	})
	t.Run("lasts a fifth longer or shorter", func(t *testing.T) {
		for jitter, want := range map[float64]time.Duration{-1: 4 * time.Minute, 0.5: 5*time.Minute + 30*time.Second} {
			w := newWorldWith(t, lease.Options{Jitter: func() float64 { return jitter }, Ban: 5 * time.Minute}, candidate("a"))
			w.banned(w.acquire(target("shop")))
			restsFor(w, want, "shop")
		}
	})
	t.Run("is not made longer by leases from before it", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		early := w.grant(target("shop"), count(3, 0), ttl(time.Hour)).Leases
		for _, l := range early[:2] {
			w.banned(l)
			w.pass(time.Minute)
		}
		restsFor(w, 8*time.Minute, "shop")
		w.banned(early[2]) // late, and no news
		w.release(w.acquire(target("shop")).ID)
		w.same("strikes", 1, w.facts("a").Cooldowns[0].Strikes)
	})
	t.Run("follows a rate limit at once", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(target("shop"))
		w.report(l, lease.Report{Result: lease.ResultRateLimited, RetryAfter: 2 * time.Second})
		w.banned(l)
		restsFor(w, 10*time.Minute, "shop")
	})
}

func TestReport(t *testing.T) {
	tests := []struct {
		name                  string
		leaseTarget, report   string
		result                lease.Result
		rests, lentAllTheSame string
	}{
		{"the report's target goes first", "shop", "api", lease.ResultBanned, "api", "shop"},
		{"then the lease's", "shop", "", lease.ResultRateLimited, "shop", ""},
		{"then the pool of leases without target", "", "", lease.ResultBanned, "", "shop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			w.report(w.acquire(target(tt.leaseTarget)), lease.Report{Result: tt.result, Target: tt.report})
			w.acquire(target(tt.lentAllTheSame))
			w.refused(target(tt.rests))
		})
	}
	t.Run("ok rests nothing", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.report(w.acquire(), lease.Report{Result: lease.ResultOK})
		w.acquire()
	})
	t.Run("a late one counts for ten minutes", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire(target("shop"))
		w.pass(11*time.Minute - time.Nanosecond)
		w.banned(l)
		w.refused(target("shop"))
		w.pass(time.Nanosecond)
		if err := w.Report(t.Context(), l.ID, anybody, lease.Report{Result: lease.ResultOK}); !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("report: %v", err)
		}
	})
	t.Run("one of somebody else counts not", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire()
		err := w.Report(t.Context(), l.ID, func(c string) bool { return c != "crawler" }, lease.Report{Result: lease.ResultBanned})
		if !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("report: %v", err)
		}
		w.acquire()
	})
	t.Run("a lease has bad news of 64 targets", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire()
		for n := range 64 {
			w.report(l, lease.Report{Result: lease.ResultBanned, Target: fmt.Sprint(n)})
		}
		w.restart(0)
		bad := lease.Report{Result: lease.ResultRateLimited, Target: "64"}
		if err := w.Report(t.Context(), l.ID, anybody, bad); !errors.Is(err, lease.ErrTooManyTargets) {
			t.Errorf("report on another one: %v", err)
		}
		w.acquire(target("64"))
		w.report(l, lease.Report{Result: lease.ResultRateLimited, Target: "63"})
		w.report(l, lease.Report{Result: lease.ResultOK, Target: "64"})
	})
}

func TestOperator(t *testing.T) {
	w := newWorld(t, candidate("a"))
	got, err := w.Rest(t.Context(), "uid-a", "shop", time.Hour)
	w.must(err)
	want := lease.Cooldown{Target: "shop", Result: lease.ResultRateLimited, Until: start.Add(time.Hour)}
	w.same("cooldown", want, got)
	_, err = w.Rest(t.Context(), "uid-a", "", 2*time.Hour)
	w.must(err)
	w.restart(0)
	w.same("cooldowns", []lease.Cooldown{want, {Result: lease.ResultRateLimited, Until: start.Add(2 * time.Hour)}}, w.facts("a").Cooldowns)
	shop, other := "shop", "other"
	w.must(w.Clear(t.Context(), "uid-a", &other))
	w.refused(target("shop"))
	c := w.wait(target("shop"))
	w.must(w.Clear(t.Context(), "uid-a", &shop))
	c.granted()
	w.refused()
	w.must(w.Clear(t.Context(), "uid-a", nil))
	w.acquire()
	w.restart(0)
	w.same("cooldowns", 0, len(w.facts("a").Cooldowns))
}
