package lease_test

import (
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

func TestConcurrentClientsNeverExceedCapacity(t *testing.T) {
	const clients, rounds, capacity = 16, 50, 4
	s := lease.New(lease.Options{})
	fleet := []lease.Candidate{candidate("a", maxLeases(capacity)), candidate("b", maxLeases(capacity))}
	s.Sync(fleet)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range rounds {
				l, err := s.Acquire(lease.Request{TTL: time.Hour})
				s.Sync(fleet)
				for uid, n := range s.Counts() {
					if n > capacity {
						t.Errorf("%d leases on %s, capacity %d", n, uid, capacity)
					}
				}
				if err == nil {
					s.Release(l.ID)
				}
			}
		})
	}
	wg.Wait()
	if got := s.Counts(); len(got) != 0 {
		t.Errorf("leases left over: %v", got)
	}
}
