package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	local "example.com/fairlead/deploy/local/postgres"
	"example.com/fairlead/deploy/local/postgres/postgrestest"
)

// thingSize is about that of a lease.
const thingSize = 300

func thing(n int) lease.Change {
	return put(fmt.Sprintf("lease/%08d", n), strings.Repeat("v", thingSize))
}

// fill keeps count things in groups.
func fill(t testing.TB, j lease.Journal, count int) {
	t.Helper()
	const group = 1000
	for first := 0; first < count; first += group {
		var changes []lease.Change
		for n := first; n < first+group; n++ {
			changes = append(changes, thing(n))
		}
		keep(t, j, changes...)
	}
}

func TestHundredThousandThingsAreLoadedSoon(t *testing.T) {
	dsn := postgrestest.Database(t)
	j := leading(t, dsn)
	// Statistics and plans of before must not decide for long.
	keep(t, j, put("first", ""))
	execute(t, administrator(t, dsn), "ANALYZE fairlead_leases.state")
	for range 10 {
		keep(t, j, put("first", ""), gone("first"))
	}
	const count = 100_000
	fill(t, j, count)
	began, loaded := time.Now(), 0
	err := j.Load(t.Context(), func(lease.Change) error { loaded++; return nil })
	took := time.Since(began)
	t.Logf("%d things of %d bytes were loaded in %s", loaded, thingSize, took.Round(time.Millisecond))
	if err != nil || loaded != count || took > 2*time.Second {
		t.Errorf("want %d within 2 s: %v", count, err)
	}

	began = time.Now()
	const commits = 100
	for n := range commits {
		keep(t, j, thing(n), gone(thing(n+commits).Key))
	}
	each := time.Since(began) / commits
	t.Logf("a commit of two changes among them takes %s", each)
	if each > 10*time.Millisecond {
		t.Error("a commit reads all that there is")
	}
}

func BenchmarkCommit(b *testing.B) {
	server := postgrestest.Start(b, local.Options{Fsync: true})
	j := leading(b, server.DSN("postgres"))
	fill(b, j, 100_000)
	for _, size := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("changes=%d", size), func(b *testing.B) {
			n := 0
			for b.Loop() {
				changes := make([]lease.Change, 0, size)
				for range size {
					n++
					changes = append(changes, thing(n*7919%100_000))
				}
				keep(b, j, changes...)
			}
		})
	}
}
