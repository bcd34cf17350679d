package lease_test

import (
	"errors"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestExpiry(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	l := w.acquire()
	w.pass(time.Minute - time.Nanosecond)
	w.refused()
	w.pass(time.Nanosecond)
	counts, err := w.Counts(t.Context())
	w.must(err)
	w.same("counts", map[string]int{}, counts)
	w.same("list", []lease.Lease{}, w.list())
	if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrExpired) {
		t.Errorf("renew: %v", err)
	}
	w.acquire() // the slot is free
	t.Run("a lease that is over does not come back", func(t *testing.T) {
		if _, err := w.renew(l, time.Hour); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("renew: %v", err)
		}
		w.same("active", []string{"lease-2"}, idsOf(w.list()))
		w.release(l.ID)
		w.refused()
	})
	t.Run("ten minutes after that nobody knows it", func(t *testing.T) {
		l := w.list()[0]
		w.pass(11*time.Minute - time.Nanosecond)
		if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("renew: %v", err)
		}
		w.pass(time.Nanosecond)
		if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("renew: %v", err)
		}
	})
}

func TestRenew(t *testing.T) {
	w := newWorld(t, candidate("a"))
	l := w.acquire()
	steps := []struct{ after, ttl, lasts, told time.Duration }{
		{50 * time.Second, 0, time.Minute, time.Minute},
		{50 * time.Second, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute},
		{50 * time.Second, 0, 2 * time.Minute, 2 * time.Minute},
		{10 * time.Second, time.Second, 110 * time.Second, 2 * time.Minute}, // it is never shortened
		{10 * time.Second, 0, 2 * time.Minute, 2 * time.Minute},
		{90 * time.Second, time.Minute, time.Minute, time.Minute},
	}
	for _, s := range steps {
		w.pass(s.after)
		got, err := w.renew(l, s.ttl)
		w.must(err)
		want := lease.Renewal{Lease: l, Healthy: true}
		want.Lease.ExpiresAt, want.Lease.TTL = w.clock.Now().Add(s.lasts), s.told
		w.same("renewal by "+s.ttl.String(), want, got)
	}
	t.Run("an unhealthy proxy keeps its leases and says so", func(t *testing.T) {
		w.Put(candidate("a", unhealthy))
		got, err := w.renew(l, time.Minute)
		if err != nil || got.Healthy || got.Draining {
			t.Errorf("renewal %+v, %v", got, err)
		}
		w.Put(candidate("a", draining))
		got, err = w.renew(l, time.Minute)
		if err != nil || !got.Healthy || !got.Draining {
			t.Errorf("renewal %+v, %v", got, err)
		}
	})
	t.Run("nobody renews what is not theirs", func(t *testing.T) {
		if _, err := w.Renew(t.Context(), l.ID, func(c string) bool { return c != "crawler" }, 0); !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("renew: %v", err)
		}
		if _, err := w.Renew(t.Context(), "no-such-lease", anybody, 0); !errors.Is(err, lease.ErrUnknown) {
			t.Errorf("renew: %v", err)
		}
	})
}

func TestRelease(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	l := w.acquire()
	w.must(w.Release(t.Context(), l.ID, func(c string) bool { return c != "crawler" }))
	w.refused() // somebody else's release is none
	for range 3 {
		w.release(l.ID)
	}
	w.release("no-such-lease")
	if _, err := w.renew(l, 0); !errors.Is(err, lease.ErrUnknown) {
		t.Errorf("renew after release: %v", err)
	}
	w.acquire()
	w.refused() // releasing thrice freed one slot
}

func TestList(t *testing.T) {
	w := newWorld(t, candidate("a"))
	w.same("none", []lease.Lease{}, w.list())
	first := w.acquire()
	w.pass(time.Second)
	second := w.acquire(target("shop"), by("other"))
	w.same("list", []lease.Lease{first, second}, w.list())
	others, err := w.List(t.Context(), func(client string) bool { return client == "other" })
	w.must(err)
	w.same("another's list", []lease.Lease{second}, others)
	w.release(first.ID)
	w.same("list", []lease.Lease{second}, w.list())
}
