package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// TestNothingIsToldBeforeItIsKept holds the journal up, and sees that whoever has seen what
// is not kept waits.
func TestNothingIsToldBeforeItIsKept(t *testing.T) {
	asks := map[string]func(w *world, held lease.Lease) error{
		"acquire": func(w *world, _ lease.Lease) error { return acquireOnly(w) },
		"a refusal": func(w *world, _ lease.Lease) error {
			var none *lease.NoMatchError
			if err := acquireOnly(w, exclusive); !errors.As(err, &none) {
				return fmt.Errorf("no refusal: %w", err)
			}
			return nil
		},
		"release": func(w *world, held lease.Lease) error { return w.Release(context.Background(), held.ID, anybody) },
		"a release of nothing": func(w *world, _ lease.Lease) error {
			return w.Release(context.Background(), "no-such-lease", anybody)
		},
		"renew": func(w *world, held lease.Lease) error { _, err := w.renew(held, 0); return err },
		"report": func(w *world, held lease.Lease) error {
			return w.Report(context.Background(), held.ID, anybody, lease.Report{Result: lease.ResultOK})
		},
		"rest": func(w *world, _ lease.Lease) error {
			_, err := w.Rest(context.Background(), "uid-a", "", time.Minute)
			return err
		},
		"clear":  func(w *world, _ lease.Lease) error { return w.Clear(context.Background(), "uid-a", nil) },
		"list":   func(w *world, _ lease.Lease) error { _, err := w.List(context.Background(), anybody); return err },
		"facts":  func(w *world, _ lease.Lease) error { _, err := w.Facts(context.Background(), "uid-a"); return err },
		"counts": func(w *world, _ lease.Lease) error { _, err := w.Counts(context.Background()); return err },
		"somebody else's lease": func(w *world, _ lease.Lease) error {
			if _, err := w.renew(lease.Lease{ID: "x"}, 0); !errors.Is(err, lease.ErrUnknown) {
				return err
			}
			return nil
		},
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			held := w.acquire()
			unblock := w.journal.block()
			under := w.start(target("under way"))
			eventually.Until(t, "something is under way", func() bool { n, _ := w.Totals(); return n == 2 })
			told := make(chan error, 1)
			go func() { told <- ask(w, held) }()
			never(t, told)
			unblock()
			if err := <-told; err != nil {
				t.Error(err)
			}
			under.granted()
		})
		t.Run(name+" fails when it cannot be kept", func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			held := w.acquire()
			unblock := w.journal.block()
			under := w.start(target("under way"))
			eventually.Until(t, "something is under way", func() bool { n, _ := w.Totals(); return n == 2 })
			told := make(chan error, 1)
			go func() { told <- ask(w, held) }()
			w.journal.failing(errDisk, false)
			unblock()
			if err := <-told; !errors.Is(err, lease.ErrUnavailable) {
				t.Errorf("error %v", err)
			}
			under.refused(lease.ErrUnavailable)
		})
		t.Run(name+" fails when the journal was taken over", func(t *testing.T) {
			w := newWorld(t, candidate("a"))
			held := w.acquire()
			w.journal.take()
			if err := ask(w, held); !errors.Is(err, lease.ErrUnavailable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func acquireOnly(w *world, edit ...func(*lease.Request)) error {
	_, err := w.Acquire(context.Background(), request(edit...))
	return err
}

// never fails the test if there is an answer. It gives it time to come, which a right one
// does not use up.
func never(t *testing.T, told chan error) {
	t.Helper()
	select {
	case err := <-told:
		t.Fatalf("it was told before it was kept: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
}

func TestFailedCommit(t *testing.T) {
	t.Run("ends the engine and all that is under way", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		kept := w.acquire()
		waiter := w.wait()
		w.journal.failing(errDisk, false)
		if err := w.Release(t.Context(), kept.ID, anybody); !errors.Is(err, lease.ErrUnavailable) || !errors.Is(err, errDisk) {
			t.Errorf("release: %v", err)
		}
		waiter.refused(lease.ErrUnavailable)
		<-w.Done()
		if err := w.Err(); !errors.Is(err, errDisk) {
			t.Errorf("the engine ended with %v", err)
		}
		w.refusedWith(lease.ErrUnavailable)
		w.restart(0)
		w.same("list", []string{kept.ID}, idsOf(w.list()))
		w.refused()
	})
	t.Run("loses nothing that was told, and grants nothing twice", func(t *testing.T) {
		for _, inDoubt := range []bool{false, true} {
			w := newWorld(t, candidate("a", maxLeases(60)))
			told := w.storm(errDisk, inDoubt)
			w.restart(0)
			now := map[string]bool{}
			for _, l := range w.list() {
				now[l.ID] = true
			}
			for _, l := range told {
				if !now[l.ID] && (!inDoubt || l.ID != "lease-1") { // that was given back
					t.Errorf("in doubt %v: %s was told and is lost", inDoubt, l.ID)
				}
			}
			if !inDoubt && len(now) != len(told) {
				t.Errorf("in doubt %v: %d leases are kept, %d were told", inDoubt, len(now), len(told))
			}
			w.same("contradictions", []string(nil), w.Inconsistencies())
		}
	})
}

// storm acquires by many until the journal fails in the midst of it, and returns what was
// granted.
func (w *world) storm(fail error, inDoubt bool) []lease.Lease {
	var mu sync.Mutex
	var told []lease.Lease
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			g, err := w.Acquire(w.t.Context(), request(waiting(time.Minute)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				told = append(told, g.Leases...)
			}
			if len(told) == 20 {
				w.journal.failing(fail, inDoubt)
			}
		})
	}
	eventually.Until(w.t, "all wait, or the engine ended", func() bool {
		_, n := w.Totals()
		return n == 40 || w.Err() != nil
	})
	_ = w.Release(w.t.Context(), "lease-1", anybody) // a last change, if there was none
	all.Wait()
	return told
}

func TestTakenOver(t *testing.T) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	w.acquire()
	waiter := w.wait()
	w.journal.take()
	w.pass(time.Second) // it asks once a second
	waiter.refused(lease.ErrUnavailable)
	<-w.Done()
	if err := w.Err(); !errors.Is(err, errTaken) {
		t.Errorf("the engine ended with %v", err)
	}
}

func TestClose(t *testing.T) {
	w := newWorld(t, candidate("a"))
	unblock := w.journal.block()
	under := w.start()
	eventually.Until(t, "something is under way", func() bool { n, _ := w.Totals(); return n == 1 })
	closed := make(chan error, 1)
	go func() { closed <- w.Close() }()
	<-w.Done()
	unblock()
	l := under.granted().Leases[0]
	w.must(<-closed)
	if err := w.Err(); !errors.Is(err, lease.ErrStopped) {
		t.Errorf("the engine ended with %v", err)
	}
	w.restart(0)
	w.same("list", []string{l.ID}, idsOf(w.list()))
}

func TestOpen(t *testing.T) {
	for name, c := range map[string]lease.Change{
		"of an unknown kind": {Kind: '?', Key: "k", Value: []byte("x")},
		"of a later form":    {Kind: 'l', Key: "k", Value: []byte{4}},
		"that breaks off":    {Kind: 'c', Key: "k", Value: []byte{2, 1}},
	} {
		t.Run("refuses a change "+name, func(t *testing.T) {
			m := newMemory(map[memoryKey]lease.Change{{c.Kind, c.Key}: c})
			_, err := lease.Open(t.Context(), m, lease.Options{})
			if err == nil {
				t.Fatal("it opened")
			}
			t.Log(err)
			if m.Held() == nil {
				t.Error("the journal is still open")
			}
		})
	}
}
