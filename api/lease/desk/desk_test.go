package desk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/internal/eventually"
)

func candidate(name string, edits ...func(*lease.Candidate)) lease.Candidate {
	c := lease.Candidate{
		Key: "crawl/" + name, UID: "uid-" + name, Host: "127.64.0.1", Port: 3128, Scheme: "http",
		MaxLeases: 2, Healthy: true,
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

func draining(c *lease.Candidate) { c.Draining = true }

// world is a desk on a place in memory.
type world struct {
	*desk.Desk
	t     *testing.T
	place *desktest.Place
	log   *desktest.Log
	told  *told
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, place: desktest.NewPlace(), log: &desktest.Log{}, told: &told{}}
	w.Desk = w.another()
	return w
}

// leads says whether the desk has an open engine.
func (w *world) leads() bool {
	_, err := w.Engine()
	return err == nil
}

// another is a desk of another process.
func (w *world) another() *desk.Desk {
	return desk.New(desk.Options{Place: w.place, Notify: w.told.notify, Log: slog.New(slog.NewTextHandler(w.log, nil))})
}

// told notes what was told, or fails.
type told struct {
	mu    sync.Mutex
	names []string
	fail  error
	tries int
}

func (d *told) notify(_ context.Context, n lease.Notice) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries++
	if d.fail != nil {
		return d.fail
	}
	d.names = append(d.names, fmt.Sprint(n.Proxy.Key, " banned=", n.Banned))
	return nil
}

func (d *told) failing(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

func (d *told) tried() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tries
}

func (d *told) comes(t *testing.T, want ...string) {
	t.Helper()
	got := func() []string {
		d.mu.Lock()
		defer d.mu.Unlock()
		return append([]string{}, d.names...)
	}
	eventually.Sees(t, fmt.Sprint(want, " are told"), time.Minute, func() (bool, string) {
		return len(got()) >= len(want), fmt.Sprint(got())
	})
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func mustEngine(t *testing.T, d *desk.Desk) *lease.Engine {
	t.Helper()
	e, err := d.Engine()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func acquire(t *testing.T, d *desk.Desk, r lease.Request) lease.Lease {
	t.Helper()
	r.TTL, r.Client = time.Minute, "crawler"
	g, err := mustEngine(t, d).Acquire(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return g.Leases[0]
}

func TestNothingIsLentBeforeTheFleetIsKnown(t *testing.T) {
	w := newWorld(t)
	desktest.Run(t, w.Desk)
	w.Put(candidate("a"))
	if _, err := mustEngine(t, w.Desk).Acquire(t.Context(), lease.Request{TTL: time.Minute}); !errors.Is(err, lease.ErrUnavailable) {
		t.Errorf("before: %v", err)
	}
	w.Synced()
	acquire(t, w.Desk, lease.Request{})
}

func TestTheFleetIsKept(t *testing.T) {
	for name, before := range map[string]bool{"told before the engine opens": true, "told after": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tell := func() {
				w.Put(candidate("a"))
				w.Put(candidate("gone"))
				w.Remove("uid-gone")
				w.SetBudgets([]lease.Budget{{Target: "shop.example", PerProxyPerMinute: 1}})
				w.Synced()
			}
			if before {
				tell()
			}
			desktest.Run(t, w.Desk)
			if !before {
				tell()
			}
			if l := acquire(t, w.Desk, lease.Request{Target: "shop.example"}); l.Proxy.UID != "uid-a" {
				t.Errorf("lent: %+v", l.Proxy)
			}
			var budget *lease.BudgetError
			if _, err := mustEngine(t, w.Desk).Acquire(t.Context(), lease.Request{TTL: time.Minute, Target: "shop.example"}); !errors.As(err, &budget) {
				t.Errorf("beyond the budget: %v", err)
			}
		})
	}
}

func TestAnotherEngineGoesOn(t *testing.T) {
	w := newWorld(t)
	w.Put(candidate("a"))
	w.Synced()
	desktest.Run(t, w.Desk)
	l := acquire(t, w.Desk, lease.Request{})
	first := mustEngine(t, w.Desk)

	full := errors.New("the disk is full")
	w.place.Fail(full)
	if err := first.Release(t.Context(), l.ID, everybody); !errors.Is(err, lease.ErrUnavailable) {
		t.Errorf("release on a full disk: %v", err)
	}
	eventually.Until(t, "the desk says why it lends nothing", func() bool {
		_, err := w.Engine()
		return errors.Is(err, full) && errors.Is(err, lease.ErrUnavailable)
	})
	tried := w.place.Leads()
	eventually.Until(t, "it tries again and again", func() bool { return w.place.Leads() >= tried+2 })
	if n := strings.Count(w.log.String(), "lead: the disk is full"); n != 1 {
		t.Errorf("the same failure is logged %d times:\n%s", n, w.log)
	}

	w.place.Fail(nil)
	eventually.Until(t, "another engine is open", w.leads)
	second := mustEngine(t, w.Desk)
	if second == first {
		t.Error("the engine that failed is used again")
	}
	if err := second.Release(t.Context(), l.ID, everybody); err != nil {
		t.Errorf("release: %v", err)
	}
}

func TestWhoDoesNotLeadSaysWhoDoes(t *testing.T) {
	w := newWorld(t)
	w.place.Take("http://127.0.0.1:1")
	w.Synced()
	desktest.Run(t, w.Desk)
	where := func(want string) func() bool {
		return func() bool {
			_, err := w.Engine()
			var notLeading *desk.NotLeadingError
			return errors.As(err, &notLeading) && notLeading.URL == want
		}
	}
	eventually.Until(t, "the leader is told", where("http://127.0.0.1:1"))
	w.place.GiveBack()
	eventually.Until(t, "this one leads", w.leads)
	w.place.Take("http://127.0.0.1:2")
	if _, err := mustEngine(t, w.Desk).Counts(t.Context()); !errors.Is(err, lease.ErrUnavailable) {
		t.Errorf("a leader that was put out answers from memory: %v", err)
	}
	w.place.GiveBack()
	w.place.Take("")
	eventually.Until(t, "nobody is known to lead", func() bool {
		_, err := w.Engine()
		return err != nil
	})
}

func TestWhoWaitsIsToldThatItStops(t *testing.T) {
	w := newWorld(t)
	w.Synced()
	stop := desktest.Run(t, w.Desk)
	e := mustEngine(t, w.Desk)
	ended := make(chan error, 1)
	go func() {
		_, err := e.Acquire(context.Background(), lease.Request{TTL: time.Minute, Wait: time.Minute})
		ended <- err
	}()
	eventually.Until(t, "it waits", func() bool { _, waiting := e.Totals(); return waiting == 1 })
	stop()
	if err := <-ended; !errors.Is(err, lease.ErrStopped) {
		t.Errorf("who waited got %v", err)
	}
	if _, err := w.Engine(); !errors.Is(err, lease.ErrStopped) {
		t.Errorf("who comes later gets %v", err)
	}
}

func everybody(string) bool { return true }
