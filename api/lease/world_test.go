package lease_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/fairlead/api/lease"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an engine whose clock stands still until it is told to step.
type world struct {
	*lease.Engine
	t       *testing.T
	clock   *clocktesting.FakeClock
	journal *memory
	options lease.Options
	fleet   []lease.Candidate
}

func newWorld(t *testing.T, fleet ...lease.Candidate) *world {
	return newWorldWith(t, lease.Options{}, fleet...)
}

func newWorldWith(t *testing.T, o lease.Options, fleet ...lease.Candidate) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakeClock(start), journal: newMemory(nil), options: o, fleet: fleet}
	var ids atomic.Int64
	w.options.NewID = func() string { return fmt.Sprintf("lease-%d", ids.Add(1)) }
	if w.options.Jitter == nil {
		w.options.Jitter = func() float64 { return 0 }
	}
	w.open()
	w.sync(fleet...)
	return w
}

// open opens an engine on what the journal keeps.
func (w *world) open() {
	w.t.Helper()
	w.options.Clock = w.clock
	e, err := lease.Open(w.t.Context(), w.journal, w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Engine = e
	w.t.Cleanup(func() { _ = e.Close() })
}

func (w *world) sync(fleet ...lease.Candidate) {
	w.fleet = fleet
	w.Sync(fleet)
}

// Put has a restart find the proxy as well.
func (w *world) Put(c lease.Candidate) {
	w.fleet = append(slices.DeleteFunc(slices.Clone(w.fleet), func(o lease.Candidate) bool { return o.UID == c.UID }), c)
	w.Engine.Put(c)
}

// Remove has a restart find the proxy no more.
func (w *world) Remove(uid string) {
	w.fleet = slices.DeleteFunc(slices.Clone(w.fleet), func(o lease.Candidate) bool { return o.UID == uid })
	w.Engine.Remove(uid)
}

// restart leaves the engine as a crash would, and opens another one, with the same fleet,
// when the wall clock has stepped.
func (w *world) restart(step time.Duration) {
	w.t.Helper()
	w.crash(step)
	w.Sync(w.fleet)
}

// crash is restart before the fleet is known.
func (w *world) crash(step time.Duration) {
	w.t.Helper()
	old := w.Engine
	w.journal = newMemory(w.journal.take())
	w.clock = clocktesting.NewFakeClock(w.clock.Now().Add(step))
	w.open()
	_ = old.Close()
}

func (w *world) pass(d time.Duration) { w.clock.Step(d) }

// grant acquires what must be granted at once.
func (w *world) grant(edit ...func(*lease.Request)) lease.Grant {
	w.t.Helper()
	req := request(edit...)
	g, err := w.Acquire(w.t.Context(), req)
	if err != nil {
		w.t.Fatalf("acquire %+v: %v", req, err)
	}
	return g
}

// acquire is grant of a single lease.
func (w *world) acquire(edit ...func(*lease.Request)) lease.Lease {
	w.t.Helper()
	g := w.grant(edit...)
	if len(g.Leases) != 1 {
		w.t.Fatalf("granted %d leases, want one", len(g.Leases))
	}
	return g.Leases[0]
}

// refused acquires what must be refused for want of a proxy.
func (w *world) refused(edit ...func(*lease.Request)) lease.NoMatchError {
	w.t.Helper()
	none := refusal[*lease.NoMatchError](w, edit...)
	sum := none.AtCapacity + none.InCooldown + none.Unhealthy + none.Draining + none.Unusable
	if sum != none.Considered {
		w.t.Errorf("%d were considered, and %d counted: %+v", none.Considered, sum, none)
	}
	return *none
}

func refusal[E error](w *world, edit ...func(*lease.Request)) E {
	w.t.Helper()
	req := request(edit...)
	g, err := w.Acquire(w.t.Context(), req)
	var want E
	if !errors.As(err, &want) {
		w.t.Fatalf("acquire %+v: granted %v, error %v; want a %T", req, keysOf(g), err, want)
	}
	return want
}

// refusedWith acquires what must fail with a sentinel.
func (w *world) refusedWith(want error, edit ...func(*lease.Request)) {
	w.t.Helper()
	req := request(edit...)
	if g, err := w.Acquire(w.t.Context(), req); !errors.Is(err, want) {
		w.t.Fatalf("acquire %+v: granted %v, error %v; want %v", req, keysOf(g), err, want)
	}
}

func anybody(string) bool { return true }

func (w *world) release(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		w.must(w.Release(w.t.Context(), id, anybody))
	}
}

func (w *world) report(l lease.Lease, r lease.Report) {
	w.t.Helper()
	w.must(w.Report(w.t.Context(), l.ID, anybody, r))
}

func (w *world) banned(l lease.Lease) {
	w.t.Helper()
	w.report(l, lease.Report{Result: lease.ResultBanned})
}

func (w *world) renew(l lease.Lease, ttl time.Duration) (lease.Renewal, error) {
	return w.Renew(w.t.Context(), l.ID, anybody, ttl)
}

func (w *world) facts(name string) lease.Facts {
	w.t.Helper()
	f, err := w.Facts(w.t.Context(), "uid-"+name)
	w.must(err)
	return f
}

func (w *world) list() []lease.Lease {
	w.t.Helper()
	all, err := w.List(w.t.Context(), anybody)
	w.must(err)
	return all
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) same(what string, want, got any) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
