package lease_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// newFull is a world with one proxy of one slot, which the lease has.
func newFull(t *testing.T) (*world, lease.Lease) {
	w := newWorld(t, candidate("a", maxLeases(1)))
	return w, w.acquire(by("first"), ttl(time.Hour))
}

// serve frees the slot of a full world again and again, and returns who got it in turn.
func serve(w *world, l lease.Lease, calls map[string]*call) []string {
	w.t.Helper()
	var order []string
	for len(calls) > 0 {
		w.release(l.ID)
		eventually.Until(w.t, "somebody is served", func() bool {
			for name, c := range calls {
				select {
				case <-c.done:
					order = append(order, name)
					l = c.granted().Leases[0]
					delete(calls, name)
					return true
				default:
				}
			}
			return false
		})
	}
	return order
}

func TestWait(t *testing.T) {
	t.Run("a freed slot is handed to who waits, and nobody else gets it", func(t *testing.T) {
		w, l := newFull(t)
		c := w.wait()
		w.pass(3 * time.Second)
		w.release(l.ID)
		w.refused()
		g := c.granted()
		w.same("waited", 3*time.Second, g.Waited)
		w.same("ends", start.Add(63*time.Second), g.Leases[0].ExpiresAt)
	})
	t.Run("so is one of a lease that ran out, or of a proxy that comes", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		w.acquire(ttl(10 * time.Second))
		first, second := w.wait(), w.wait()
		w.pass(10 * time.Second)
		first.granted()
		second.waits()
		w.Put(candidate("b", maxLeases(1)))
		w.same("second", []string{"b"}, keysOf(second.granted()))
	})
	t.Run("who waits long enough is refused with what there is then", func(t *testing.T) {
		w, _ := newFull(t)
		c := w.wait(waiting(20 * time.Second))
		w.pass(20*time.Second - 101*time.Millisecond)
		c.waits()
		w.Put(candidate("b", unhealthy))
		w.pass(time.Millisecond) // the answer still has to reach its client
		c.end()
		var none *lease.NoMatchError
		if !asError(c.err, &none) {
			t.Fatalf("error %v", c.err)
		}
		w.same("refusal", lease.NoMatchError{Considered: 2, AtCapacity: 1, Unhealthy: 1, RetryAfter: time.Second}, *none)
	})
	t.Run("nobody is granted what no proxy can ever be", func(t *testing.T) {
		w, l := newFull(t)
		other := w.wait(inRegion("us"))
		w.release(l.ID)
		w.acquire()
		other.waits()
	})
	t.Run("who went away costs no slot", func(t *testing.T) {
		w, l := newFull(t)
		gone, there := w.wait(), w.wait()
		gone.cancel()
		gone.refused(context.Canceled)
		w.release(l.ID)
		there.granted()
	})
	t.Run("who goes away just when it is granted costs no slot", func(t *testing.T) {
		w, l := newFull(t)
		gone, there := w.wait(by("gone")), w.wait(by("there"))
		unblock := w.journal.block()
		released := make(chan error, 1)
		go func() { released <- w.Release(t.Context(), l.ID, anybody) }()
		eventually.Until(t, "the slot is handed over", func() bool { _, n := w.Totals(); return n == 1 })
		gone.cancel() // it was granted, and does not know yet
		unblock()
		gone.refused(context.Canceled)
		there.granted()
		w.must(<-released)
		w.same("list", 1, len(w.list()))
	})
	t.Run("nobody waits longer than the engine", func(t *testing.T) {
		w, _ := newFull(t)
		calls := []*call{w.wait(), w.wait(count(2, 0)), w.wait(inRegion("us"), session("s"))}
		w.must(w.Close())
		for _, c := range calls {
			c.refused(lease.ErrStopped)
		}
		<-w.Done()
		w.refusedWith(lease.ErrUnavailable)
	})
}

func TestWaitOrder(t *testing.T) {
	t.Run("the oldest of equals goes first", func(t *testing.T) {
		w, l := newFull(t)
		calls := map[string]*call{}
		for n := range 5 {
			calls[fmt.Sprint(n)] = w.wait(target(fmt.Sprint(n)))
		}
		w.same("order", []string{"0", "1", "2", "3", "4"}, serve(w, l, calls))
	})
	t.Run("the highest priority goes first, and grows by one in ten seconds", func(t *testing.T) {
		w, l := newFull(t)
		calls := map[string]*call{"old 0": w.wait(by("a"))}
		w.pass(9999 * time.Millisecond)
		calls["0"] = w.wait(by("b"))
		calls["1"] = w.wait(by("c"), priority(1))
		calls["9"] = w.wait(by("d"), priority(9))
		w.same("order", []string{"9", "1", "old 0", "0"}, serve(w, l, calls))

		w, l = newFull(t)
		calls = map[string]*call{"old 0": w.wait(by("a"))}
		w.pass(10 * time.Second)
		calls["1"] = w.wait(by("c"), priority(1))
		calls["2"] = w.wait(by("c"), priority(2))
		w.same("order", []string{"2", "old 0", "1"}, serve(w, l, calls))
	})
	t.Run("the client with the fewest recent grants goes before the oldest", func(t *testing.T) {
		w, l := newFull(t)
		calls := map[string]*call{}
		for n := range 3 {
			calls[fmt.Sprint("greedy ", n)] = w.wait(by("greedy"))
		}
		for n := range 3 {
			calls[fmt.Sprint("modest ", n)] = w.wait(by("modest"))
		}
		want := []string{"greedy 0", "modest 0", "greedy 1", "modest 1", "greedy 2", "modest 2"}
		w.same("order", want, serve(w, l, calls))
	})
	t.Run("grants are forgotten with time", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		for range 4 {
			w.release(w.acquire(by("long ago")).ID)
		}
		w.pass(2 * time.Minute) // four half-lives: a quarter of a grant is left
		l := w.acquire(by("lately"), ttl(time.Hour))
		calls := map[string]*call{"lately": w.wait(by("lately")), "long ago": w.wait(by("long ago"))}
		w.same("order", []string{"long ago", "lately"}, serve(w, l, calls))
	})
	t.Run("an exclusive request gets a proxy that is empty", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(2)))
		first, second := w.acquire(), w.acquire()
		c := w.wait(exclusive)
		w.release(first.ID)
		c.waits()
		w.release(second.ID)
		c.granted()
		w.refused()
	})
	t.Run("a slot passes over those whom it does not satisfy", func(t *testing.T) {
		w, l := newFull(t)
		resting := w.wait(target("shop"), priority(9))
		if _, err := w.Rest(t.Context(), "uid-a", "shop", time.Minute); err != nil {
			t.Fatal(err)
		}
		other := w.wait(target("other"))
		w.release(l.ID)
		w.release(other.granted().Leases[0].ID)
		resting.waits()
		w.must(w.Clear(t.Context(), "uid-a", nil))
		resting.granted()
	})
	t.Run("equal clients get equally much", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		l := w.acquire(by("first"))
		calls := map[string]*call{}
		for n := range 50 {
			calls[fmt.Sprint(n)] = w.wait(by(fmt.Sprint("client ", n%5)))
		}
		got := map[string]int{}
		for _, name := range serve(w, l, calls)[:25] {
			got[name[len(name)-1:]]++
		}
		for n := range 5 {
			if in := got[fmt.Sprint(n)] + got[fmt.Sprint(n+5)]; in != 5 {
				t.Errorf("client %d got %d of the first 25, want 5", n, in)
			}
		}
	})
}
