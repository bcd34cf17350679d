//go:build node

package bolt

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/fairlead/api/lease"
)

func TestNodeAFullDiskLosesNothing(t *testing.T) {
	disk := newDisk(t, "8m")
	place := newPlace(disk.path, sizes{log: 1 << 30, value: 4 << 10, tx: 16 << 10})
	j := mustLead(t, place)
	want := state{}
	var err error
	for n := 0; err == nil; n++ {
		changes := []lease.Change{{Kind: 3, Key: string(sequenceKey(uint64(n))), Value: make([]byte, 20<<10)}}
		if err = j.Commit(t.Context(), changes); err == nil {
			want.apply(changes)
		}
	}
	wantFull(t, "Commit", err, disk.path)
	if again := j.Commit(t.Context(), group(1)); again == nil {
		t.Error("a journal that failed commits again")
	}
	must(t, j.Held())
	must(t, j.Close())

	disk.grow("16m")
	j = mustLead(t, place)
	wantState(t, j, want)
	must(t, j.Commit(t.Context(), group(1)))
	want.apply(group(1))
	must(t, j.Close())
	wantState(t, mustLead(t, place), want)
}

func TestNodeAFullDiskIsToldBeforeAnythingIsLoaded(t *testing.T) {
	disk := newDisk(t, "2m")
	disk.fill(0)
	place := newPlace(disk.path, defaultSizes)
	_, err := place.Lead(t.Context())
	wantFull(t, "Lead without a file", err, disk.path)

	disk.free()
	must(t, createIfAbsent(disk.path)) // by a process that was killed then
	disk.fill(0)
	_, err = place.Lead(t.Context())
	wantFull(t, "Lead", err, disk.path)

	disk.free()
	j := mustLead(t, place)
	h := newHistory()
	must(t, h.next(t.Context(), j))
	wantState(t, j, h.state)
}

func TestNodeACompactionWithoutRoomIsTriedAgain(t *testing.T) {
	disk := newDisk(t, "16m")
	said := &told{lines: make(chan string, 1000)}
	place := New(disk.path, slog.New(slog.NewTextHandler(said, nil)))
	place.sizes = sizes{log: 2 << 20, value: 4 << 10, tx: 64 << 10}
	j := mustLead(t, place)
	want := state{}
	commit := func(key string, size int) {
		t.Helper()
		changes := []lease.Change{{Kind: 3, Key: key, Value: make([]byte, size)}}
		must(t, j.Commit(t.Context(), changes))
		want.apply(changes)
	}
	for n := range 200 {
		commit(string(sequenceKey(uint64(n))), 10<<10)
	}
	commit("the last of its log", 60<<10)
	disk.fill(1 << 20)
	commit("the first of the next", 10)
	line := <-said.lines
	for _, want := range []string{"not compacted", disk.path, syscall.ENOSPC.Error()} {
		if !strings.Contains(line, want) {
			t.Errorf("it says %q, want %q in it", line, want)
		}
	}
	if names := buckets(t, j.(*journal).db); slices.Contains(names, string(snapshotBucket(2))) {
		t.Errorf("what was begun takes up room: the file has %q", names)
	}
	for range 20 {
		commit("small", 100) // there is room for these
	}
	wantState(t, j, want)

	disk.free()
	eventually(t, "compacted", func() bool {
		commit("larger", 20<<10)
		j := j.(*journal)
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.generation > 1
	})
	wantState(t, j, want)
	must(t, j.Close())
	wantState(t, mustLead(t, place), want)
}

func TestNodeACompactionLeavesRoomForCommits(t *testing.T) {
	disk := newDisk(t, "16m")
	j := mustOpen(t, newPlace(disk.path, sizes{log: 1 << 20, value: 4 << 10, tx: 512 << 10}))
	for n := range 200 {
		must(t, j.Commit(t.Context(), []lease.Change{{Kind: 3, Key: string(sequenceKey(uint64(n))), Value: make([]byte, 10<<10)}}))
	}
	disk.fill(900 << 10) // one transaction would find room
	if err := j.compaction().run(t.Context()); !errors.Is(err, errNoRoom) {
		t.Errorf("run: %v, want %v", err, errNoRoom)
	}
	must(t, j.Commit(t.Context(), group(1)))
	disk.free()
	must(t, j.compaction().run(t.Context()))
}

func wantFull(t *testing.T, what string, err error, path string) {
	t.Helper()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path+": make room on its disk") {
		t.Fatalf("%s: %v, want a full disk, the file and the remedy", what, err)
	}
}

// disk is a file system in memory, with the lease file in it.
type disk struct {
	t         *testing.T
	dir, path string
}

func newDisk(t *testing.T, size string) *disk {
	t.Helper()
	dir := t.TempDir()
	must(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size))
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	return &disk{t: t, dir: dir, path: filepath.Join(dir, "leases.db")}
}

func (d *disk) grow(size string) {
	d.t.Helper()
	must(d.t, syscall.Mount("", d.dir, "", syscall.MS_REMOUNT, "size="+size))
}

// fill leaves room for no more than left bytes.
func (d *disk) fill(left int64) {
	d.t.Helper()
	var is syscall.Statfs_t
	must(d.t, syscall.Statfs(d.dir, &is))
	must(d.t, os.WriteFile(filepath.Join(d.dir, "filler"), make([]byte, int64(is.Bavail)*is.Bsize-left), 0o600))
}

func (d *disk) free() {
	d.t.Helper()
	must(d.t, os.Remove(filepath.Join(d.dir, "filler")))
}

// told hands over what is logged.
type told struct{ lines chan string }

func (w *told) Write(b []byte) (int, error) {
	w.lines <- string(b)
	return len(b), nil
}
