package lease_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

func numbered(n int) func(*lease.Request) {
	return func(r *lease.Request) { r.Selector = map[string]string{"number": fmt.Sprint(n)} }
}

// startMany has n requests wait for what there is not, each for something else.
func (w *world) startMany(n int) (last *call) {
	w.t.Helper()
	for i := range n {
		last = w.start(numbered(i), waiting(time.Minute))
	}
	eventually.Until(w.t, "all wait", func() bool {
		_, waiting := w.Totals()
		return waiting == n
	})
	return last
}

func TestManySelectors(t *testing.T) {
	t.Run("a request keeps its place where many wait for others and many proxies rest", func(t *testing.T) {
		var fleet []lease.Candidate
		for n := range 140 {
			fleet = append(fleet, candidate(fmt.Sprint("p", n), maxLeases(1)))
		}
		w := newWorld(t, fleet...)
		w.startMany(260)
		for _, c := range fleet {
			_, err := w.Rest(t.Context(), c.UID, "shop", time.Hour)
			w.must(err)
		}
		single := w.wait(inRegion("eu"), target("shop"))
		batch := w.wait(inRegion("eu"), target("shop"), count(2, 0))
		w.same("contradictions", []string(nil), w.Inconsistencies())
		shop := "shop"
		for _, c := range fleet[:3] {
			w.must(w.Clear(t.Context(), c.UID, &shop))
		}
		single.granted()
		w.same("granted", 2, len(batch.granted().Leases))
		for uid, n := range w.Loads() {
			if n > 1 {
				t.Errorf("%s has %d leases of 1", uid, n)
			}
		}
	})
	t.Run("no more than 1,024 are waited for", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		last := w.startMany(1024)
		want := lease.QuotaError{What: "selectors that requests wait for", Limit: 1024, Shared: true}
		w.same("refusal", want, *refusal[*lease.QuotaError](w, numbered(1024), waiting(time.Minute)))
		w.refused(numbered(1024)) // it need not wait
		w.wait(numbered(1000))
		held := w.acquire(session("s"), ttl(time.Hour))
		bound := w.wait(session("s"))
		w.Put(candidate("a", unhealthy)) // who waited for it alone has nowhere to go
		bound.end()
		if got := (*lease.QuotaError)(nil); !asError(bound.err, &got) || !got.Shared {
			t.Errorf("a session that had to move: %v", bound.err)
		}
		w.release(held.ID)
		w.same("contradictions", []string(nil), w.Inconsistencies())
		last.cancel()
		last.end()
		w.wait(numbered(1024))
	})
}

func TestAttributesChange(t *testing.T) {
	attributes := func(region, kind string) func(*lease.Candidate) {
		return func(c *lease.Candidate) { c.Attributes = map[string]string{"region": region, "kind": kind} }
	}
	ofKind := func(kind string) func(*lease.Request) {
		return func(r *lease.Request) { r.Selector = map[string]string{"kind": kind} }
	}
	t.Run("a session that waits for what its proxy is no more is refused, and hinders nobody", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1), attributes("eu", "home")))
		held := w.acquire(session("s"), ttl(time.Hour))
		first, second := w.wait(session("s"), inRegion("eu")), w.wait(session("s"), ofKind("home"))
		w.Put(candidate("a", maxLeases(1), attributes("us", "home")))
		first.end()
		none := (*lease.NoMatchError)(nil)
		if !asError(first.err, &none) {
			t.Fatalf("error %v", first.err)
		}
		w.same("refusal", lease.NoMatchError{SessionProxy: "crawl/a"}, *none)
		second.waits()
		w.release(held.ID)
		second.granted()
	})
	t.Run("a batch does not keep a slot of what it has not asked for", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		batch := w.wait(inRegion("eu"), count(2, 0))
		w.Put(candidate("a", maxLeases(1), region("us")))
		w.Put(candidate("b", maxLeases(1)))
		batch.waits()
		w.acquire(inRegion("us"))
		w.Put(candidate("c", maxLeases(1)))
		w.same("granted", []string{"b", "c"}, keysOf(batch.granted()))
	})
}
