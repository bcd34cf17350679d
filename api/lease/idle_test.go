package lease_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/lease"
)

// idle are the names of the proxies that Idle tells of.
func (w *world) idle() []string {
	names := []string{}
	for _, c := range w.Idle() {
		names = append(names, c.Key)
	}
	slices.Sort(names)
	return names
}

func TestIdle(t *testing.T) {
	ready := func(w *world) bool {
		select {
		case <-w.Idled():
			return true
		default:
			return false
		}
	}
	tests := []struct {
		name string
		then func(w *world, first, second lease.Lease)
		want []string
	}{
		{"leases are left", func(w *world, first, _ lease.Lease) { w.Release(first.ID) }, []string{}},
		{"the last one is given back", func(w *world, first, second lease.Lease) {
			w.Release(first.ID)
			w.Release(second.ID)
		}, []string{"crawl/a"}},
		{"the last one runs out", func(w *world, _, second lease.Lease) {
			w.Release(second.ID)
			w.pass(time.Minute)
		}, []string{"crawl/a"}},
		{"the last one ended, and there is another", func(w *world, _, _ lease.Lease) {
			w.pass(time.Minute)
			w.acquire("")
		}, []string{}},
		{"an ended one is given back", func(w *world, first, _ lease.Lease) {
			w.pass(time.Minute)
			w.Idle()
			w.Release(first.ID)
		}, []string{}},
		{"the address changed", func(w *world, _, _ lease.Lease) {
			w.Sync([]lease.Candidate{candidate("a", host("10.0.0.2"))})
		}, []string{"crawl/a"}},
		{"the proxy is gone", func(w *world, _, _ lease.Lease) { w.Sync(nil) }, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			tt.then(w, w.acquire(""), w.acquire(""))
			if diff := cmp.Diff(tt.want, w.idle()); diff != "" {
				t.Errorf("idle (-want +got):\n%s", diff)
			}
			if got := w.idle(); len(got) > 0 {
				t.Errorf("told twice: %v", got)
			}
		})
	}
	t.Run("somebody who waits is woken", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		l := w.acquire("")
		if ready(w) {
			t.Error("woken for nothing")
		}
		w.Release(l.ID)
		if !ready(w) {
			t.Error("not woken")
		}
	})
}
