package lease_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func perMinute(n float64) []lease.Budget {
	return []lease.Budget{{Target: "shop", PerProxyPerMinute: n}}
}

// spent fails the test unless the budget of shop is spent for d.
func (w *world) spent(d time.Duration, edit ...func(*lease.Request)) {
	w.t.Helper()
	err := refusal[*lease.BudgetError](w, append([]func(*lease.Request){target("shop")}, edit...)...)
	w.same("refusal", lease.BudgetError{Target: "shop", RetryAfter: d}, *err)
}

func TestBudget(t *testing.T) {
	newWithBudget := func(t *testing.T, n float64, fleet ...lease.Candidate) *world {
		w := newWorld(t, fleet...)
		w.SetBudgets(perMinute(n))
		return w
	}
	t.Run("is so many grants a minute for each usable proxy", func(t *testing.T) {
		w := newWithBudget(t, 2, candidate("a"), candidate("b"), candidate("c", unhealthy), candidate("d", draining))
		w.pass(500 * time.Millisecond)
		for range 4 {
			w.release(w.acquire(target("shop")).ID)
		}
		w.spent(60500 * time.Millisecond) // to the second in which the first is surely a minute ago
		w.acquire(target("other"))
		w.pass(60 * time.Second)
		w.spent(time.Second) // half of one, but nobody is told less
		w.pass(500 * time.Millisecond)
		w.acquire(target("shop"))
	})
	t.Run("a ban does not push its load on the rest", func(t *testing.T) {
		w := newWithBudget(t, 3, candidate("a"), candidate("b"))
		w.banned(w.acquire(target("shop")))
		w.acquire(target("shop"))
		w.acquire(target("shop"))
		w.spent(61 * time.Second)
	})
	t.Run("that nobody can spend says why", func(t *testing.T) {
		w := newWithBudget(t, 3, candidate("a"))
		w.banned(w.acquire(target("shop")))
		w.same("refusal", lease.NoMatchError{Considered: 1, InCooldown: 1, RetryAfter: 10 * time.Minute}, w.refused(target("shop")))
	})
	t.Run("of less than one a minute is one in some minutes", func(t *testing.T) {
		w := newWithBudget(t, 0.25, candidate("a"), candidate("b"))
		w.acquire(target("shop"))
		w.spent(2 * time.Minute)
		w.pass(119 * time.Second)
		w.spent(time.Second)
		w.pass(time.Second)
		w.acquire(target("shop"))

		w = newWithBudget(t, 1.0/(24*60), candidate("a"))
		w.acquire(target("shop"))
		w.spent(24 * time.Hour)
	})
	t.Run("of one and a half is one", func(t *testing.T) {
		w := newWithBudget(t, 1.5, candidate("a"))
		w.acquire(target("shop"))
		w.spent(61 * time.Second)
	})
	t.Run("of nothing lends nothing", func(t *testing.T) {
		newWithBudget(t, 0, candidate("a")).spent(time.Minute)
	})
	t.Run("a batch is within it, or as much of it as is enough", func(t *testing.T) {
		w := newWithBudget(t, 3, candidate("a"))
		w.spent(time.Minute, count(4, 0))
		w.same("granted", 3, len(w.grant(target("shop"), count(4, 2)).Leases))
		w.spent(61*time.Second, count(4, 1))
	})
	t.Run("tells when enough of it comes back", func(t *testing.T) {
		w := newWithBudget(t, 3, candidate("a"))
		for range 3 {
			w.acquire(target("shop"))
			w.pass(10 * time.Second)
		}
		w.spent(31 * time.Second)
		w.spent(41*time.Second, count(2, 0))
		w.SetBudgets(perMinute(2))
		w.spent(41 * time.Second)
	})
	t.Run("who waits is refused when it is spent", func(t *testing.T) {
		w := newWithBudget(t, 2, candidate("a", maxLeases(2)))
		l := w.acquire(ttl(time.Hour))
		w.acquire(ttl(time.Hour))
		first, second, third := w.wait(target("shop")), w.wait(target("shop")), w.wait(target("shop"))
		w.release(l.ID)
		w.release(first.granted().Leases[0].ID)
		w.release(second.granted().Leases[0].ID)
		third.end()
		var spent *lease.BudgetError
		if !asError(third.err, &spent) {
			t.Errorf("error %v", third.err)
		}
		w.acquire()
	})
	t.Run("that is changed keeps what was spent, that is ended forgets it", func(t *testing.T) {
		w := newWithBudget(t, 3, candidate("a"))
		w.acquire(target("shop"))
		w.SetBudgets(perMinute(1))
		w.spent(61 * time.Second)
		w.SetBudgets(nil)
		w.acquire(target("shop"))
		w.SetBudgets(perMinute(1))
		w.acquire(target("shop"))
	})
	t.Run("is kept, and not counted until it is told again", func(t *testing.T) {
		w := newWithBudget(t, 2, candidate("a"))
		w.acquire(target("shop"))
		w.restart(time.Hour)
		w.acquire(target("shop"))
		w.SetBudgets(perMinute(2))
		w.spent(61 * time.Second)
	})
}

// TestBudgetHoldsInEachMinute asks again and again, and looks at every minute there was.
func TestBudgetHoldsInEachMinute(t *testing.T) {
	w := newWorld(t, candidate("a"), candidate("b"))
	w.SetBudgets(perMinute(2.6))
	const limit = 5
	r := rand.New(rand.NewPCG(1, 1)) // #nosec G404 -- a test that can be repeated
	var granted []time.Time
	for range 3000 {
		w.pass(time.Duration(r.IntN(3000)) * time.Millisecond)
		if r.IntN(500) == 0 {
			w.restart(0)
			w.SetBudgets(perMinute(2.6))
		}
		g, err := w.Acquire(t.Context(), request(target("shop"), ttl(time.Second)))
		if err != nil {
			var spent *lease.BudgetError
			if !asError(err, &spent) {
				t.Fatal(err)
			}
			continue
		}
		granted = append(granted, g.Leases[0].GrantedAt)
	}
	for i := limit; i < len(granted); i++ {
		if between := granted[i].Sub(granted[i-limit]); between < time.Minute {
			t.Fatalf("%d grants within %s", limit+1, between)
		}
	}
	if n, want := len(granted), 3000*3/2/61*limit*9/10; n < want {
		t.Errorf("%d grants, want %d at least: the budget is not used", n, want)
	}
}
