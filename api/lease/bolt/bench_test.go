package bolt

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
)

// BenchmarkCommit tells the time of a group, and the processor's part of it.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("changes=%d", size), func(b *testing.B) {
			j := mustLead(b, newPlace(newFile(b), defaultSizes))
			group := make([]lease.Change, size)
			n := 0
			before := processor(b)
			for b.Loop() {
				for i := range group {
					// As many things as 256 clients have at a time.
					group[i] = lease.Change{Kind: 1, Key: fmt.Sprintf("lease-%020d", n%512), Value: leaseBytes}
					n++
				}
				must(b, j.Commit(b.Context(), group))
			}
			b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkRecovery loads 100,000 leases, from a log and from a snapshot.
func BenchmarkRecovery(b *testing.B) {
	const leases = 100_000
	for _, from := range []string{"log", "snapshot"} {
		b.Run(from, func(b *testing.B) {
			place := newPlace(newFile(b), defaultSizes)
			j, err := place.open()
			must(b, err)
			var group []lease.Change
			for i := range leases {
				group = append(group, lease.Change{Kind: 1, Key: fmt.Sprintf("lease-%020d", i), Value: leaseBytes})
				if len(group) == 50 {
					must(b, j.Commit(b.Context(), group))
					group = group[:0]
				}
			}
			if from == "snapshot" {
				c := j.compaction()
				must(b, c.run(b.Context()))
			}
			must(b, j.Close())
			for b.Loop() {
				j := mustLead(b, place)
				n := 0
				must(b, j.Load(b.Context(), func(lease.Change) error { n++; return nil }))
				must(b, j.Close())
				if n != leases {
					b.Fatalf("%d leases were loaded, want %d", n, leases)
				}
			}
		})
	}
}

// leaseBytes are like those of a lease.
var leaseBytes = []byte(strings.Repeat(`{"client":"crawler-1"}`, 14)[:300])

func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
