package lease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/fairlead/api/lease"
)

const window = 10 * time.Minute

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type world struct {
	*lease.Store
	t     *testing.T
	clock *clocktesting.FakePassiveClock
}

func newWorld(t *testing.T, fleet ...lease.Candidate) *world {
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(start)}
	n := 0
	w.Store = lease.New(lease.Options{Clock: w.clock, Cooldown: window, NewID: func() string {
		n++
		return fmt.Sprintf("lease-%d", n)
	}})
	w.Sync(fleet)
	return w
}

func (w *world) pass(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

func (w *world) acquire(target string) lease.Lease {
	w.t.Helper()
	l, err := w.Acquire(lease.Request{Target: target, TTL: time.Minute, Client: "crawler"})
	if err != nil {
		w.t.Fatalf("acquire for %q: %v", target, err)
	}
	return l
}

func (w *world) refused(target string) lease.ErrNoMatch {
	w.t.Helper()
	l, err := w.Acquire(lease.Request{Target: target, TTL: time.Minute})
	var none *lease.ErrNoMatch
	if !errors.As(err, &none) {
		w.t.Fatalf("acquire for %q gave %s, %v; want ErrNoMatch", target, l.Proxy.Key, err)
	}
	return *none
}

func candidate(name string, edit ...func(*lease.Candidate)) lease.Candidate {
	c := lease.Candidate{
		Key: "crawl/" + name, UID: "uid-" + name, Host: "10.0.0.1", Port: 3128, Scheme: "http",
		Attributes: map[string]string{"region": "eu"}, MaxLeases: 10, Healthy: true, LatencyMillis: 10,
	}
	for _, e := range edit {
		e(&c)
	}
	return c
}

func latency(ms int64) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.LatencyMillis = ms }
}
func maxLeases(n int) func(*lease.Candidate) { return func(c *lease.Candidate) { c.MaxLeases = n } }
func region(r string) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Attributes["region"] = r }
}
func unhealthy(c *lease.Candidate) { c.Healthy = false }
func host(address string) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Host = address }
}

func TestAcquire(t *testing.T) {
	t.Run("fewest active leases go before latency, latency before name", func(t *testing.T) {
		w := newWorld(t, candidate("c", latency(5)), candidate("b", latency(50)), candidate("a", latency(50)))
		var got []string
		for range 7 {
			got = append(got, w.acquire("").Proxy.Key)
		}
		want := []string{"crawl/c", "crawl/a", "crawl/b", "crawl/c", "crawl/a", "crawl/b", "crawl/c"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a lease says who has what until when", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		got := w.acquire("shop.example")
		want := lease.Lease{
			ID: "lease-1", Client: "crawler", Target: "shop.example", Proxy: candidate("a"),
			TTL: time.Minute, GrantedAt: start, ExpiresAt: start.Add(time.Minute),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]int{"uid-a": 1}, w.Counts()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a selector matches all of its attributes", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b", region("us")))
		l, err := w.Acquire(lease.Request{Selector: map[string]string{"region": "us"}, TTL: time.Minute})
		if err != nil || l.Proxy.Key != "crawl/b" {
			t.Errorf("got %s, %v; want crawl/b", l.Proxy.Key, err)
		}
		for _, selector := range []map[string]string{{"region": "asia"}, {"region": "us", "kind": ""}} {
			if _, err := w.Acquire(lease.Request{Selector: selector, TTL: time.Minute}); err == nil {
				t.Errorf("selector %v matched", selector)
			}
		}
	})
	t.Run("a refusal counts every matching proxy once", func(t *testing.T) {
		w := newWorld(t, candidate("full", maxLeases(1)), candidate("resting"), candidate("sick", unhealthy, maxLeases(0)))
		first, second := w.acquire("shop.example"), w.acquire("shop.example")
		resting := map[string]string{first.Proxy.Key: first.ID, second.Proxy.Key: second.ID}["crawl/resting"]
		if err := w.Report(resting, lease.ResultBanned, ""); err != nil {
			t.Fatal(err)
		}
		want := lease.ErrNoMatch{Considered: 3, AtCapacity: 1, InCooldown: 1, Unhealthy: 1}
		if diff := cmp.Diff(want, w.refused("shop.example")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a proxy that the client cannot use is passed over, and counted where it could be lent", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b", latency(50), maxLeases(1)), candidate("sick", unhealthy))
		req := lease.Request{TTL: time.Minute, Unusable: map[string]bool{"uid-a": true, "uid-sick": true}}
		if l, err := w.Acquire(req); err != nil || l.Proxy.Key != "crawl/b" {
			t.Errorf("got %s, %v; want crawl/b", l.Proxy.Key, err)
		}
		_, err := w.Acquire(req)
		var none *lease.ErrNoMatch
		errors.As(err, &none)
		if diff := cmp.Diff(&lease.ErrNoMatch{Considered: 3, AtCapacity: 1, Unhealthy: 1, Unusable: 1}, none); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an empty fleet considers nothing", func(t *testing.T) {
		if diff := cmp.Diff(lease.ErrNoMatch{}, newWorld(t).refused("")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestExpiry(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	l := w.acquire("")
	w.pass(time.Minute - time.Nanosecond)
	w.refused("")
	w.pass(time.Nanosecond)
	if got := w.Counts(); len(got) != 0 {
		t.Errorf("counts after expiry: %v", got)
	}
	if got := w.List(); len(got) != 0 {
		t.Errorf("list after expiry: %v", got)
	}
	if _, _, err := w.Renew(l.ID, 0); !errors.Is(err, lease.ErrExpired) {
		t.Errorf("renew after expiry: %v", err)
	}
	w.acquire("") // the slot is free
}

func TestRenew(t *testing.T) {
	w := newWorld(t, candidate("a"))
	l := w.acquire("")
	w.pass(50 * time.Second)
	for _, step := range []struct{ ttl, lasts time.Duration }{{0, time.Minute}, {2 * time.Minute, 2 * time.Minute}, {0, 2 * time.Minute}} {
		got, healthy, err := w.Renew(l.ID, step.ttl)
		if err != nil || !healthy {
			t.Fatalf("renew: healthy=%v, %v", healthy, err)
		}
		if want := w.clock.Now().Add(step.lasts); !got.ExpiresAt.Equal(want) {
			t.Errorf("renewed by %v: expires at %v, want %v", step.ttl, got.ExpiresAt, want)
		}
		w.pass(50 * time.Second)
	}
	t.Run("an unhealthy proxy keeps its leases and says so", func(t *testing.T) {
		w.Sync([]lease.Candidate{candidate("a", unhealthy)})
		if _, healthy, err := w.Renew(l.ID, 0); err != nil || healthy {
			t.Errorf("healthy=%v, %v", healthy, err)
		}
	})
	if _, _, err := w.Renew("no-such-lease", 0); !errors.Is(err, lease.ErrUnknown) {
		t.Errorf("renew of an unknown lease: %v", err)
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	l := w.acquire("")
	for range 3 {
		w.Release(l.ID)
	}
	w.Release("no-such-lease")
	if _, err := w.Lookup(l.ID); !errors.Is(err, lease.ErrUnknown) {
		t.Errorf("lookup after release: %v", err)
	}
	w.acquire("")
	w.refused("") // releasing thrice freed one slot
}

func TestProxyGone(t *testing.T) {
	for name, after := range map[string][]lease.Candidate{
		"a deleted proxy ends its leases":             {},
		"another address ends its leases":             {candidate("a", host("10.0.0.2"))},
		"another object of that name ends its leases": {candidate("a", func(c *lease.Candidate) { c.UID = "uid-new" })},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, candidate("a", maxLeases(1)))
			l := w.acquire("shop.example")
			w.Sync(after)
			if _, _, err := w.Renew(l.ID, 0); !errors.Is(err, lease.ErrProxyGone) {
				t.Errorf("renew: %v", err)
			}
			if got := w.Counts(); len(got) != 0 {
				t.Errorf("counts: %v", got)
			}
			if err := w.Report(l.ID, lease.ResultBanned, ""); err != nil {
				t.Errorf("report: %v", err)
			}
			if len(after) > 0 {
				w.acquire("shop.example") // neither slot nor ban went over to the new address
			}
		})
	}
	t.Run("a new address forgets the bans of the old one", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		if err := w.Report(w.acquire("shop.example").ID, lease.ResultBanned, ""); err != nil {
			t.Fatal(err)
		}
		w.refused("shop.example")
		w.Sync([]lease.Candidate{candidate("a", host("10.0.0.2"))})
		w.acquire("shop.example")
	})
	t.Run("the end of a lease that the proxy outlived counts nothing twice", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		old := w.acquire("")
		w.Sync([]lease.Candidate{candidate("a", maxLeases(1), host("10.0.0.2"))})
		w.acquire("")
		w.Release(old.ID)
		w.refused("")
	})
}

func TestReport(t *testing.T) {
	tests := []struct {
		name                  string
		leaseTarget, report   string
		result                lease.Result
		rests, lentAllTheSame string
	}{
		{"the report's target goes first", "shop.example", "api.example", lease.ResultBanned, "api.example", "shop.example"},
		{"then the lease's", "shop.example", "", lease.ResultRateLimited, "shop.example", ""},
		{"then the pool of leases without target", "", "", lease.ResultBanned, "", "shop.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			if err := w.Report(w.acquire(tt.leaseTarget).ID, tt.result, tt.report); err != nil {
				t.Fatal(err)
			}
			w.acquire(tt.lentAllTheSame)
			w.refused(tt.rests)
			w.pass(window - time.Nanosecond)
			w.refused(tt.rests)
			w.pass(time.Nanosecond)
			w.acquire(tt.rests)
		})
	}
	t.Run("ok rests nothing", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		if err := w.Report(w.acquire("").ID, lease.ResultOK, ""); err != nil {
			t.Fatal(err)
		}
		w.acquire("")
	})
	t.Run("an expired lease resolves for one window past its end", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire("shop.example")
		w.pass(time.Minute + window - time.Nanosecond)
		if err := w.Report(l.ID, lease.ResultBanned, ""); err != nil {
			t.Fatal(err)
		}
		w.refused("shop.example")
		w.pass(time.Nanosecond)
		if err := w.Report(l.ID, lease.ResultBanned, ""); !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("report after the window: %v", err)
		}
	})
}

func TestList(t *testing.T) {
	w := newWorld(t, candidate("a"))
	first := w.acquire("")
	w.pass(time.Second)
	second := w.acquire("shop.example")
	if diff := cmp.Diff([]lease.Lease{first, second}, w.List()); diff != "" {
		t.Error(diff)
	}
}
