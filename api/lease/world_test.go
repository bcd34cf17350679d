package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
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

func request(edit ...func(*lease.Request)) lease.Request {
	r := lease.Request{TTL: time.Minute, Client: "crawler"}
	for _, e := range edit {
		e(&r)
	}
	return r
}

func target(t string) func(*lease.Request)         { return func(r *lease.Request) { r.Target = t } }
func by(client string) func(*lease.Request)        { return func(r *lease.Request) { r.Client = client } }
func session(name string) func(*lease.Request)     { return func(r *lease.Request) { r.Session = name } }
func waiting(d time.Duration) func(*lease.Request) { return func(r *lease.Request) { r.Wait = d } }
func priority(n int) func(*lease.Request)          { return func(r *lease.Request) { r.Priority = n } }
func ttl(d time.Duration) func(*lease.Request)     { return func(r *lease.Request) { r.TTL = d } }
func quota(q lease.Quota) func(*lease.Request)     { return func(r *lease.Request) { r.Quota = q } }
func inRegion(region string) func(*lease.Request) {
	return func(r *lease.Request) { r.Selector = map[string]string{"region": region} }
}
func exclusive(r *lease.Request) { r.Exclusive = true }
func count(n, least int) func(*lease.Request) {
	return func(r *lease.Request) { r.Count, r.AtLeast = n, least }
}
func keyed(key, fingerprint string) func(*lease.Request) {
	return func(r *lease.Request) { r.Key, r.Fingerprint = key, fingerprint }
}

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

// call is a request under way.
type call struct {
	w      *world
	cancel context.CancelFunc
	done   chan struct{}
	grant  lease.Grant
	err    error
}

// wait starts a request that has to wait, and returns when it does.
func (w *world) wait(edit ...func(*lease.Request)) *call {
	w.t.Helper()
	_, before := w.Totals()
	c := w.start(append([]func(*lease.Request){waiting(time.Minute)}, edit...)...)
	eventually.Until(w.t, "the request waits", func() bool {
		select {
		case <-c.done:
			w.t.Fatalf("it does not wait: granted %v, error %v", keysOf(c.grant), c.err)
		default:
		}
		_, now := w.Totals()
		return now == before+1
	})
	return c
}

func (w *world) start(edit ...func(*lease.Request)) *call {
	ctx, cancel := context.WithCancel(w.t.Context())
	c := &call{w: w, cancel: cancel, done: make(chan struct{})}
	e, req := w.Engine, request(edit...)
	go func() {
		defer close(c.done)
		defer cancel()
		c.grant, c.err = e.Acquire(ctx, req)
	}()
	return c
}

func (c *call) end() {
	c.w.t.Helper()
	eventually.Until(c.w.t, "the request has its answer", func() bool {
		select {
		case <-c.done:
			return true
		default:
			return false
		}
	})
}

// granted returns what the request got, and fails the test when that was nothing.
func (c *call) granted() lease.Grant {
	c.w.t.Helper()
	c.end()
	if c.err != nil {
		c.w.t.Fatalf("the waiting request was refused: %v", c.err)
	}
	return c.grant
}

func (c *call) refused(want error) {
	c.w.t.Helper()
	c.end()
	if !errors.Is(c.err, want) {
		c.w.t.Fatalf("granted %v, error %v; want %v", keysOf(c.grant), c.err, want)
	}
}

// waits fails the test unless the request has no answer yet.
func (c *call) waits() {
	c.w.t.Helper()
	select {
	case <-c.done:
		c.w.t.Fatalf("it waits no more: granted %v, error %v", keysOf(c.grant), c.err)
	default:
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
	all, err := w.List(w.t.Context())
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

// keysOf are the names of the proxies that were granted.
func keysOf(g lease.Grant) []string {
	var names []string
	for _, l := range g.Leases {
		names = append(names, l.Proxy.Key[len("crawl/"):])
	}
	return names
}

func idsOf(leases []lease.Lease) []string {
	ids := []string{}
	for _, l := range leases {
		ids = append(ids, l.ID)
	}
	return ids
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
	return func(c *lease.Candidate) { c.Attributes = map[string]string{"region": r} }
}
func unhealthy(c *lease.Candidate) { c.Healthy = false }
func draining(c *lease.Candidate)  { c.Draining = true }
func host(address string) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Host = address }
}
func banLimit(n int, within time.Duration) func(*lease.Candidate) {
	return func(c *lease.Candidate) { c.Bans = lease.BanLimit{Count: n, Window: within} }
}

func asError[E error](err error, as *E) bool { return errors.As(err, as) }
