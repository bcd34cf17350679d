package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

const (
	// leaseClients ask at the same time.
	leaseClients = 64
	// leaseRound is how many leases are granted before they are all given back, by the
	// engine; the plain store, which is much slower, grants fewer.
	leaseRound      = 6_400
	plainLeaseRound = 640
	leaseRounds     = 20
)

// BenchmarkLease measures what it takes to be granted a lease in process: by the engine,
// from 1,000 and from 100,000 proxies, and by a store that copies, filters and sorts its
// 1,000 proxies.
func BenchmarkLease(b *testing.B) {
	plain := &plainStore{fleet: leaseFleet(1_000)}
	small, large := openEngine(b, discard{}, leaseFleet(1_000)), openEngine(b, discard{}, leaseFleet(100_000))
	var ofPlain, ofSmall, ofLarge []time.Duration
	for b.Loop() {
		for range leaseRounds {
			ofPlain = append(ofPlain, perLease(b, plain, plainLeaseRound))
			ofSmall = append(ofSmall, perLease(b, small, leaseRound))
			ofLarge = append(ofLarge, perLease(b, large, leaseRound))
		}
	}
	for _, took := range [][]time.Duration{ofPlain, ofSmall, ofLarge} {
		slices.Sort(took)
	}
	of1000 := float64(percentile(ofSmall, 50))
	b.ReportMetric(0, "ns/op") // of all rounds: says nothing
	b.ReportMetric(of1000, "ns/lease")
	b.ReportMetric(float64(percentile(ofPlain, 50)), "baseline-ns/lease")
	b.ReportMetric(float64(percentile(ofPlain, 50))/of1000, "x-baseline")
	b.ReportMetric(float64(percentile(ofLarge, 50))/of1000, "x-growth")
}

// lender is what leases are asked of.
type lender interface {
	Acquire(ctx context.Context, r lease.Request) (lease.Grant, error)
	Release(ctx context.Context, id string, may lease.Holder) error
}

// perLease is what one of n leases takes that clients ask for at the same time.
func perLease(b *testing.B, from lender, n int) time.Duration {
	b.Helper()
	request := lease.Request{
		Selector: map[string]string{"region": "eu"}, Target: "shop.example", TTL: time.Minute, Client: "crawler",
	}
	ids := make([][]string, leaseClients)
	start := time.Now()
	allClients(func(client int) {
		for range n / leaseClients {
			g, err := from.Acquire(b.Context(), request)
			if err != nil {
				b.Errorf("acquire: %v", err)
				return
			}
			ids[client] = append(ids[client], g.Leases[0].ID)
		}
	})
	took := time.Since(start)
	allClients(func(client int) {
		for _, id := range ids[client] {
			if err := from.Release(b.Context(), id, anybody); err != nil {
				b.Errorf("release: %v", err)
			}
		}
	})
	return took / time.Duration(n)
}

func anybody(string) bool { return true }

func allClients(do func(client int)) {
	var all sync.WaitGroup
	for client := range leaseClients {
		all.Go(func() { do(client) })
	}
	all.Wait()
}

// leaseFleet is n proxies in two regions, half of them in each.
func leaseFleet(n int) []lease.Candidate {
	fleet := make([]lease.Candidate, n)
	for i := range fleet {
		fleet[i] = lease.Candidate{
			Key: fmt.Sprintf("crawl/proxy-%06d", i), UID: fmt.Sprintf("uid-%06d", i),
			Host: "10.0.0.1", Port: int32(1024 + i%60_000), Scheme: "http", // #nosec G115 -- a TCP port
			Attributes: map[string]string{"region": []string{"eu", "us"}[i%2], "kind": "datacenter"},
			MaxLeases:  100, Healthy: true, LatencyMillis: int64(i % 50),
		}
	}
	return fleet
}

func openEngine(b *testing.B, j lease.Journal, fleet []lease.Candidate) *lease.Engine {
	b.Helper()
	e, err := lease.Open(b.Context(), j, lease.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	})
	e.Sync(fleet)
	return e
}

// discard is a journal that forgets, for what a lease costs without a disk.
type discard struct{}

func (discard) Load(context.Context, func(lease.Change) error) error { return nil }
func (discard) Commit(context.Context, []lease.Change) error         { return nil }
func (discard) Held() error                                          { return nil }
func (discard) Close() error                                         { return nil }

// plainStore picks as a simple store does: it copies what it has, keeps what matches and
// sorts that.
type plainStore struct {
	mu     sync.Mutex
	fleet  []lease.Candidate
	active map[string]int
	leases map[string]string
	next   int
}

func (s *plainStore) Acquire(_ context.Context, r lease.Request) (lease.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases == nil {
		s.active, s.leases = map[string]int{}, map[string]string{}
	}
	free := slices.DeleteFunc(slices.Clone(s.fleet), func(c lease.Candidate) bool {
		for k, v := range r.Selector {
			if c.Attributes[k] != v {
				return true
			}
		}
		return !c.Healthy || s.active[c.UID] >= c.MaxLeases
	})
	slices.SortFunc(free, func(a, b lease.Candidate) int {
		return cmp.Or(
			cmp.Compare(s.active[a.UID], s.active[b.UID]), cmp.Compare(a.LatencyMillis, b.LatencyMillis), cmp.Compare(a.Key, b.Key))
	})
	if len(free) == 0 {
		return lease.Grant{}, &lease.NoMatchError{}
	}
	s.next++
	id := fmt.Sprint(s.next)
	s.active[free[0].UID]++
	s.leases[id] = free[0].UID
	return lease.Grant{Leases: []lease.Lease{{ID: id, Proxy: free[0]}}}, nil
}

func (s *plainStore) Release(_ context.Context, id string, _ lease.Holder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[s.leases[id]]--
	delete(s.leases, id)
	return nil
}
