package bench

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

const (
	recoveredLeases  = 100_000
	recoveredProxies = 1_000
	recoveredClients = 100
)

// BenchmarkLeaseRecovery opens an engine on a bbolt file with 100,000 leases, until it lends
// again.
func BenchmarkLeaseRecovery(b *testing.B) {
	fleet := leaseFleet(recoveredProxies)
	for i := range fleet {
		fleet[i].MaxLeases = recoveredLeases / recoveredProxies
	}
	path := filepath.Join(b.TempDir(), "leases.db")
	lendAll(b, path, fleet)
	var took time.Duration
	for b.Loop() {
		start := time.Now()
		e := openEngine(b, boltJournal(b, path), fleet)
		took = max(took, time.Since(start))
		if active, _ := e.Totals(); active != recoveredLeases {
			b.Fatalf("%d leases are there again, want %d", active, recoveredLeases)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op") // closing is no part of it
	b.ReportMetric(took.Seconds(), "recovery-seconds")
}

// lendAll lends all of fleet on a new file, to clients that have keys.
func lendAll(b *testing.B, path string, fleet []lease.Candidate) {
	b.Helper()
	e := openEngine(b, boltJournal(b, path), fleet)
	for client := range recoveredClients {
		key := fmt.Sprint("batch ", client)
		r := lease.Request{
			Target: "shop.example", TTL: time.Hour, Client: fmt.Sprint("client ", client), Count: recoveredLeases / recoveredClients,
			Key: key, Fingerprint: key,
		}
		if _, err := e.Acquire(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
}
