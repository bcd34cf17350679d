package lease_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// noticed are the notices, each as the name of its proxy and what happened to it.
func (w *world) noticed() []string {
	all := []string{}
	for _, n := range w.Notices() {
		what := " drained"
		if n.Banned {
			what = " banned"
		}
		all = append(all, strings.TrimPrefix(n.Proxy.Key, "crawl/")+what)
	}
	slices.Sort(all)
	return all
}

func TestDrainedNotice(t *testing.T) {
	tests := []struct {
		name string
		then func(w *world, first, second lease.Lease)
		want []string
	}{
		{"leases are left", func(w *world, first, _ lease.Lease) { w.release(first.ID) }, []string{}},
		{"the last one is given back", func(w *world, first, second lease.Lease) { w.release(first.ID, second.ID) }, []string{"a drained"}},
		{"the last one runs out", func(w *world, _, second lease.Lease) {
			w.release(second.ID)
			w.pass(time.Minute)
			w.list()
		}, []string{"a drained"}},
		{"it drains no more when the last one ends", func(w *world, first, second lease.Lease) {
			w.Put(candidate("a"))
			w.release(first.ID, second.ID)
		}, []string{}},
		{"the proxy is gone", func(w *world, _, _ lease.Lease) { w.sync() }, []string{}},
		{"the address changed", func(w *world, _, _ lease.Lease) { w.sync(candidate("a", host("10.0.0.2"))) }, []string{}},
		{"the address changed and it drains", func(w *world, _, _ lease.Lease) {
			w.sync(candidate("a", draining, host("10.0.0.2")))
		}, []string{"a drained"}},
		{"an ended one is given back", func(w *world, first, _ lease.Lease) {
			w.pass(time.Minute)
			w.list()
			w.Notices()
			w.release(first.ID)
		}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, candidate("a"), candidate("b", unhealthy))
			first, second := w.acquire(), w.acquire()
			w.Put(candidate("a", draining))
			tt.then(w, first, second)
			w.same("notices", tt.want, w.noticed())
			w.same("again", []string{}, w.noticed())
		})
	}
	t.Run("begins to drain without leases", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.Put(candidate("a", draining))
		w.same("notices", []string{"a drained"}, w.noticed())
		w.Put(candidate("a", draining, latency(77)))
		w.same("on another look", []string{}, w.noticed())
		w.restart(0)
		w.same("after a restart", []string{"a drained"}, w.noticed())
	})
}

func TestBannedNotice(t *testing.T) {
	limit := banLimit(2, time.Hour)
	t.Run("comes when enough bans came together", func(t *testing.T) {
		w := newWorld(t, candidate("a", limit), candidate("b"))
		l := w.acquire(target("shop"))
		w.banned(l)
		w.banned(l) // the same news
		w.same("facts", 1, w.facts("a").Bans)
		w.same("notices", []string{}, w.noticed())
		w.report(l, lease.Report{Result: lease.ResultBanned, Target: "api"})
		w.same("facts", 2, w.facts("a").Bans)
		w.same("notices", []string{"a banned"}, w.noticed())
		w.Put(candidate("a", limit, latency(77)))
		w.same("on another look", []string{}, w.noticed())
		w.restart(0)
		w.same("facts after a restart", 2, w.facts("a").Bans)
		w.same("after a restart", []string{"a banned"}, w.noticed())
		w.Put(candidate("a", limit, draining))
		w.Put(candidate("a", limit))
		w.same("when it drains no more, and has its address still", []string{"a banned"}, w.noticed())
	})
	t.Run("does not come for bans that are too far apart", func(t *testing.T) {
		w := newWorld(t, candidate("a", limit))
		l := w.acquire(target("shop"), ttl(2*time.Hour))
		w.banned(l)
		w.pass(time.Hour + 1)
		w.report(l, lease.Report{Result: lease.ResultBanned, Target: "api"})
		w.same("notices", []string{}, w.noticed())
		w.same("facts", 1, w.facts("a").Bans)
		w.report(l, lease.Report{Result: lease.ResultBanned, Target: "other"})
		w.same("notices", []string{"a banned"}, w.noticed())
	})
	t.Run("comes when the limit is lowered", func(t *testing.T) {
		w := newWorld(t, candidate("a", limit))
		w.banned(w.acquire(target("shop")))
		w.Put(candidate("a", banLimit(1, time.Hour)))
		w.same("notices", []string{"a banned"}, w.noticed())
	})
	t.Run("does not come without a limit", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.banned(w.acquire(target("shop")))
		w.same("facts", 0, w.facts("a").Bans)
		w.same("notices", []string{}, w.noticed())
	})
	t.Run("is forgotten with the address", func(t *testing.T) {
		w := newWorld(t, candidate("a", banLimit(1, time.Hour)))
		l := w.acquire(target("shop"))
		w.banned(l)
		w.Put(candidate("a", banLimit(1, time.Hour), host("10.0.0.2")))
		w.banned(l)
		w.same("notices", []string{}, w.noticed())
		w.same("facts", lease.Facts{}, w.facts("a"))
	})
}

func TestNoticed(t *testing.T) {
	ready := func(w *world) bool {
		select {
		case <-w.Noticed():
			return true
		default:
			return false
		}
	}
	w := newWorld(t, candidate("a"))
	l := w.acquire()
	w.Put(candidate("a", draining))
	w.same("woken for nothing", false, ready(w))
	w.release(l.ID)
	w.same("woken", true, ready(w))
}
