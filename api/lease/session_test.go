package lease_test

import (
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestSession(t *testing.T) {
	newSession := func(t *testing.T) (*world, lease.Lease) {
		w := newWorld(t, candidate("a", maxLeases(2)), candidate("b", latency(50), maxLeases(2)))
		return w, w.acquire(session("s"), target("shop"))
	}
	t.Run("comes back to its proxy, though others have fewer leases", func(t *testing.T) {
		w, l := newSession(t)
		g := w.grant(session("s"))
		w.same("granted", []string{"a"}, keysOf(g))
		w.same("moved", "", g.Moved)
		w.release(l.ID)
		w.same("granted", []string{"a"}, keysOf(w.grant(session("s"))))
		w.same("another client's", []string{"b"}, keysOf(w.grant(session("s"), by("other"))))
	})
	t.Run("is forgotten when it was idle for long enough", func(t *testing.T) {
		w := newWorld(t, candidate("a"), candidate("b", latency(50)))
		w.acquire(session("s"))
		w.pass(time.Minute + 30*time.Minute - time.Nanosecond) // its lease ran out, and it nearly did
		w.acquire(ttl(time.Hour))
		w.same("just in time", []string{"a"}, keysOf(w.grant(session("s"), ttl(time.Hour))))
		w.pass(40 * time.Minute)
		w.same("it is not idle while it has a lease", []string{"a"}, keysOf(w.grant(session("s"))))
		w.pass(20*time.Minute + 30*time.Minute)
		w.acquire(ttl(time.Hour))
		w.same("after that", []string{"b"}, keysOf(w.grant(session("s"))))
	})
	t.Run("waits for its proxy when that is full, and else is refused", func(t *testing.T) {
		w, l := newSession(t)
		w.acquire(session("s"), ttl(time.Hour))
		want := lease.NoMatchError{Considered: 1, AtCapacity: 1, RetryAfter: time.Second, SessionProxy: "crawl/a"}
		w.same("refusal", want, w.refused(session("s")))
		c := w.wait(session("s"))
		w.Put(candidate("c"))
		c.waits()
		w.release(l.ID)
		g := c.granted()
		w.same("granted", []string{"a"}, keysOf(g))
		w.same("moved", "", g.Moved)
	})
	t.Run("is refused what its proxy is not", func(t *testing.T) {
		w, _ := newSession(t)
		w.Put(candidate("us", region("us")))
		w.same("refusal", lease.NoMatchError{SessionProxy: "crawl/a"}, w.refused(session("s"), inRegion("us")))
	})
	t.Run("gets one lease", func(t *testing.T) {
		w, _ := newSession(t)
		w.same("granted", []string{"a"}, keysOf(w.grant(session("s"), count(3, 0))))
	})

	gone := map[string]struct {
		how   func(w *world, l lease.Lease)
		moved string
	}{
		"unhealthy": {func(w *world, _ lease.Lease) { w.Put(candidate("a", unhealthy)) }, lease.MovedUnhealthy},
		"draining":  {func(w *world, _ lease.Lease) { w.Put(candidate("a", draining)) }, lease.MovedDraining},
		"deleted":   {func(w *world, _ lease.Lease) { w.Remove("uid-a") }, lease.MovedGone},
		"elsewhere": {func(w *world, _ lease.Lease) { w.Put(candidate("a", host("10.0.0.9"))) }, lease.MovedGone},
		"set aside": {func(w *world, _ lease.Lease) { w.SetAside([]string{"uid-a"}, time.Hour) }, lease.MovedUnhealthy},
		"banned":    {func(w *world, l lease.Lease) { w.banned(l) }, lease.MovedCooldown},
		"limited": {func(w *world, l lease.Lease) {
			w.report(l, lease.Report{Result: lease.ResultRateLimited})
		}, lease.MovedCooldown},
	}
	for name, tt := range gone {
		t.Run("moves when its proxy is "+name, func(t *testing.T) {
			w, l := newSession(t)
			tt.how(w, l)
			w.Put(candidate("0", maxLeases(0))) // passed over
			g := w.grant(session("s"), target("shop"), inRegion("eu"))
			w.same("moved", tt.moved, g.Moved)
			if name != "elsewhere" {
				w.same("granted", []string{"b"}, keysOf(g))
			}
			w.restart(0)
			again := w.grant(session("s"), target("shop"))
			w.same("the next one", keysOf(g), keysOf(again))
			w.same("the next one moved", "", again.Moved)
		})
		t.Run("that waits moves when its proxy is "+name, func(t *testing.T) {
			w, l := newSession(t)
			w.acquire(session("s"), ttl(time.Hour), target("shop"))
			c := w.wait(session("s"), target("shop"))
			tt.how(w, l)
			g := c.granted()
			w.same("moved", tt.moved, g.Moved)
		})
	}
	t.Run("that has to move waits, and tells why it has moved", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", latency(50), maxLeases(1)))
		w.acquire(session("s"), ttl(time.Hour))
		other := w.acquire(ttl(time.Hour))
		c := w.wait(session("s"))
		w.Put(candidate("a", unhealthy))
		c.waits()
		w.release(other.ID)
		g := c.granted()
		w.same("granted", []string{"b"}, keysOf(g))
		w.same("moved", lease.MovedUnhealthy, g.Moved)
	})
	t.Run("that had to move comes back when its proxy does", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", latency(50), maxLeases(1)))
		mine := w.acquire(session("s"), ttl(time.Hour))
		other := w.acquire(ttl(time.Hour))
		c := w.wait(session("s"))
		w.Put(candidate("a", unhealthy))
		w.Put(candidate("a", maxLeases(1)))
		w.release(other.ID)
		c.waits()
		w.release(mine.ID)
		g := c.granted()
		w.same("granted", []string{"a"}, keysOf(g))
		w.same("moved", "", g.Moved)
	})
	t.Run("of two first requests that wait is one session", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)), candidate("b", latency(50), maxLeases(1)))
		a, b := w.acquire(ttl(time.Hour)), w.acquire(ttl(time.Hour))
		first, second := w.wait(session("s")), w.wait(session("s"))
		w.release(b.ID)
		w.same("first", []string{"b"}, keysOf(first.granted()))
		w.release(a.ID)
		second.waits()
		w.release(first.grant.Leases[0].ID)
		w.same("second", []string{"b"}, keysOf(second.granted()))
	})
}

func TestARefusalNamesTheProxyOfTheSession(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  lease.NoMatchError
		want string
	}{
		{"that the selector excludes", lease.NoMatchError{SessionProxy: "crawl/a"}, "crawl/a, which lacks the attributes"},
		{"that is full", lease.NoMatchError{SessionProxy: "crawl/a", Considered: 1, AtCapacity: 1}, "crawl/a, which has no room"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); !strings.Contains(got, tt.want) {
				t.Errorf("%q does not say %q", got, tt.want)
			}
		})
	}
}
