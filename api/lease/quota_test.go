package lease_test

import (
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestQuota(t *testing.T) {
	three := quota(lease.Quota{Leases: 3})
	leases := lease.QuotaError{What: "leases", Limit: 3}
	t.Run("bounds the leases of one client", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.acquire(by("other"))
		held := w.grant(three, count(2, 0)).Leases
		w.same("refusal", leases, *refusal[*lease.QuotaError](w, three, count(2, 0)))
		w.acquire(three)
		w.same("refusal", leases, *refusal[*lease.QuotaError](w, three))
		w.acquire(by("other"), three)
		w.release(held[0].ID)
		w.acquire(three)
		w.restart(0)
		w.same("refusal", leases, *refusal[*lease.QuotaError](w, three))
		w.pass(time.Minute)
		w.grant(three, count(3, 0))
	})
	t.Run("gives a batch as many as it allows, if that is enough", func(t *testing.T) {
		w := newWorld(t, candidate("a"))
		w.acquire(three)
		w.same("refusal", leases, *refusal[*lease.QuotaError](w, three, count(4, 3)))
		w.same("granted", 2, len(w.grant(three, count(4, 1)).Leases))
	})
	t.Run("counts what its waiting requests ask for", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		w.acquire(three)
		batch := w.wait(three, count(2, 0))
		w.same("refusal", leases, *refusal[*lease.QuotaError](w, three))
		batch.cancel()
		batch.end()
		w.wait(three)
	})
	t.Run("bounds the waiting requests", func(t *testing.T) {
		w := newWorld(t, candidate("a", maxLeases(1)))
		two := quota(lease.Quota{Waiting: 2})
		l := w.acquire(two)
		first := w.wait(two)
		w.wait(two, target("shop"))
		got := refusal[*lease.QuotaError](w, two, waiting(time.Minute))
		w.same("refusal", lease.QuotaError{What: "waiting requests", Limit: 2}, *got)
		w.refused(two) // it need not wait
		other := w.wait(two, by("other"))
		other.cancel()
		other.end()
		w.release(l.ID)
		first.granted()
		w.wait(two)
	})
}
