package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/bolt"
)

const (
	// waitClients are equal, and have waitEach requests waiting each.
	waitClients = 100
	waitEach    = 100
	// waitProxies take one lease each, which is held for waitHold in the mean.
	waitProxies = 100
	waitHold    = 50 * time.Millisecond
	// waitFor is how long it goes on.
	waitFor = 20 * time.Second
)

// BenchmarkLeaseWaiters has 10,000 requests of 100 clients wait for 100 proxies, on a journal
// of bbolt, and measures from the release of a proxy to its next lease.
func BenchmarkLeaseWaiters(b *testing.B) {
	fleet := leaseFleet(waitProxies)
	for i := range fleet {
		fleet[i].MaxLeases = 1
	}
	for b.Loop() {
		w := &waiting{engine: openEngine(b, boltJournal(b, filepath.Join(b.TempDir(), "leases.db")), fleet), released: map[string]time.Time{}, grants: make([]int, waitClients)}
		w.run(b)
		slices.Sort(w.woken)
		slices.Sort(w.grants)
		b.ReportMetric(0, "ns/op") // of all: says nothing
		b.ReportMetric(millis(percentile(w.woken, 50)), "ms-woken-p50")
		b.ReportMetric(millis(percentile(w.woken, 99)), "ms-woken-p99")
		b.ReportMetric(float64(w.grants[waitClients-1])/float64(max(w.grants[0], 1)), "max/min-grants")
		b.ReportMetric(float64(len(w.woken))/waitFor.Seconds(), "hand-offs/s")
		if w.grants[0] == 0 {
			b.Error("a client got nothing")
		}
	}
}

// waiting is a crowd of requests.
type waiting struct {
	engine *lease.Engine

	mu sync.Mutex
	// released is when a proxy was given back, by its UID.
	released map[string]time.Time
	woken    []time.Duration
	grants   []int
	// ready: all wait, so what comes counts.
	ready bool
}

func (w *waiting) run(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var all sync.WaitGroup
	for client := range waitClients {
		for range waitEach {
			all.Go(func() {
				if err := w.lease(ctx, client); err != nil && ctx.Err() == nil {
					b.Errorf("client %d: %v", client, err)
				}
			})
		}
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, waits := w.engine.Totals(); waits >= waitClients*waitEach-waitProxies {
			break
		}
		if time.Since(start) > patience {
			b.Fatal("not all requests wait")
		}
	}
	w.mu.Lock()
	w.ready = true
	w.mu.Unlock()
	time.Sleep(waitFor)
	cancel()
	all.Wait()
}

// lease borrows and gives back, over and over.
func (w *waiting) lease(ctx context.Context, client int) error {
	for {
		g, err := w.engine.Acquire(ctx, lease.Request{TTL: time.Minute, Client: fmt.Sprint(client), Wait: time.Minute})
		var none *lease.NoMatchError
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return err
		}
		uid := g.Leases[0].Proxy.UID
		w.granted(uid, client)
		time.Sleep(waitHold/2 + time.Duration(rand.Int64N(int64(waitHold)))) // #nosec G404 -- it spreads load
		w.mu.Lock()
		w.released[uid] = time.Now()
		w.mu.Unlock()
		if err := w.engine.Release(ctx, g.Leases[0].ID, anybody); err != nil {
			return err
		}
	}
}

func (w *waiting) granted(uid string, client int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// All grants count: who got many at first has to stand back after that.
	w.grants[client]++
	if at, ok := w.released[uid]; ok && w.ready {
		w.woken = append(w.woken, time.Since(at))
	}
}

// boltJournal is a journal in the file at path.
func boltJournal(b *testing.B, path string) lease.Journal {
	b.Helper()
	j, err := bolt.New(path, slog.New(slog.DiscardHandler)).Lead(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return j
}
