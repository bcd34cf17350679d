package bolt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// TestACrashAnywhereInACompactionLosesNothing opens the file as it is after each transaction.
func TestACrashAnywhereInACompactionLosesNothing(t *testing.T) {
	j := mustOpen(t, newPlace(newFile(t), tiny))
	h := newHistory()
	commit := func() {
		t.Helper()
		must(t, h.next(t.Context(), j))
	}
	for round := range 3 { // the first one has no snapshot to start from
		for len(j.wake) == 0 {
			commit()
		}
		<-j.wake
		c := j.compaction()
		crashed(t, j.db, fmt.Sprintf("%d begun", round), h)
		for step := 0; len(c.sources) > 0; step++ {
			must(t, c.step())
			crashed(t, j.db, fmt.Sprintf("%d step %d", round, step), h)
			commit()
			crashed(t, j.db, fmt.Sprintf("%d commit after step %d", round, step), h)
		}
		must(t, c.finish())
		crashed(t, j.db, fmt.Sprintf("%d finished", round), h)
		j.compacted(c)
		if left := buckets(t, j.db); len(left) != 3 {
			t.Errorf("after a compaction the file has the buckets %q, want its facts, a snapshot and a log", left)
		}
		commit()
		wantState(t, j, h.state)
	}
}

// crashed checks a copy of the file as another process would find it, and goes on with it.
func crashed(t *testing.T, db *bbolt.DB, when string, h *history) {
	t.Helper()
	t.Run(when, func(t *testing.T) {
		h := h.clone()
		path := copyOf(t, db)
		j := mustOpen(t, newPlace(path, defaultSizes))
		wantState(t, j, h.state)
		must(t, h.next(t.Context(), j))
		c := j.compaction()
		must(t, c.run(t.Context()))
		wantState(t, j, h.state)
		must(t, j.db.View(func(tx *bbolt.Tx) error {
			if got := bytesOf(tx, snapshotBucket(c.generation+1)); got != c.written {
				t.Errorf("the snapshot has %d bytes, but %d were written at last", got, c.written)
			}
			return nil
		}))
		must(t, j.Close())

		place := newPlace(path, tiny)
		led := mustLead(t, place)
		wantState(t, led, h.state)
		for range 20 {
			must(t, h.next(t.Context(), led))
		}
		wantState(t, led, h.state)
	})
}

// copyOf copies the part of the file that is in use.
func copyOf(t *testing.T, db *bbolt.DB) string {
	t.Helper()
	var used int64
	must(t, db.View(func(tx *bbolt.Tx) error { used = tx.Size(); return nil }))
	from, err := os.Open(db.Path())
	must(t, err)
	to, err := os.Create(newFile(t))
	must(t, err)
	_, err = io.CopyN(to, from, used)
	must(t, errors.Join(err, from.Close(), to.Close()))
	return to.Name()
}

func buckets(t *testing.T, db *bbolt.DB) (names []string) {
	t.Helper()
	must(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			names = append(names, string(name))
			return nil
		})
	}))
	return names
}

func TestTheFileStopsGrowing(t *testing.T) {
	path := newFile(t)
	s := sizes{log: 64 << 10, value: 4 << 10, tx: 16 << 10}
	j := mustLead(t, newPlace(path, s))
	h := newHistory()
	for range 3000 { // some 900 KB of changes
		must(t, h.next(t.Context(), j))
	}
	wantState(t, j, h.state)
	eventually(t, "compacted", func() bool {
		j := j.(*journal)
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.generation == j.head && j.generation > 3
	})
	must(t, j.Close())
	db, err := openFile(path)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	must(t, db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > 700<<10 {
			t.Errorf("it uses %d bytes of the file, though a log has at most some %d", tx.Size(), s.log)
		}
		return nil
	}))
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("it is not %s in 20 s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
