package bolt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"example.com/fairlead/api/lease"
)

// A file that cannot be used is left as it is, and the error says what to do about it.
func TestWhatIsNoLeaseFileIsRefused(t *testing.T) {
	edit := func(change func(tx *bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := openFile(path)
			must(t, err)
			must(t, db.Update(change))
			must(t, db.Close())
		}
	}
	write := func(content []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) { must(t, os.WriteFile(path, content, 0o600)) }
	}
	inLog := func(change func(value []byte) []byte) func(*testing.T, string) {
		return edit(func(tx *bbolt.Tx) error {
			b := tx.Bucket(logBucket(1))
			return b.Put(sequenceKey(1), change(bytes.Clone(b.Get(sequenceKey(1)))))
		})
	}
	const alien, broken = "is no lease file of this fairlead: move it away", "put a copy in its place, or move it away"
	for _, c := range []struct {
		name string
		// spoil is done to a file with commits.
		spoil func(t *testing.T, path string)
		want  []string
	}{
		{"a text", write([]byte(`{"leases": []}`)), []string{alien, "invalid database"}},
		{"an empty file", write(nil), []string{alien}},
		{"a long text", write([]byte(strings.Repeat("lease\n", 10_000))), []string{alien, "invalid database"}},
		{"the first page", func(t *testing.T, path string) { must(t, os.Truncate(path, 5000)) }, []string{alien, "invalid database"}},
		{"zeros", write(make([]byte, 64<<10)), []string{alien, "invalid database"}},
		{"another program's file", edit(func(tx *bbolt.Tx) error { return tx.DeleteBucket(metaBucket) }), []string{alien, format}},
		{"another format", edit(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, []byte("fairlead-leases/0"))
		}), []string{alien, format}},
		{"no generation", edit(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(generationKey) }),
			[]string{broken, "meta/generation"}},
		{"a value cut short", inLog(func(v []byte) []byte { return v[:3] }), []string{broken, "log-1/0000000000000001", "cut short"}},
		{"a value of another version", inLog(func(v []byte) []byte { v[0]++; return v }),
			[]string{broken, "log-1/0000000000000001", "version 2"}},
		{"a changed value", inLog(func(v []byte) []byte { v[20]++; return v }), []string{broken, "log-1/0000000000000001", "checksum"}},
		{"the first half", func(t *testing.T, path string) { must(t, os.Truncate(path, 30_000)) }, []string{broken, "cut short"}},
		{"pages of another file", func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, 200_000), 2*int64(os.Getpagesize()))
			must(t, errors.Join(err, f.Close()))
		}, []string{broken}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newFile(t)
			place := newPlace(path, defaultSizes)
			j := mustLead(t, place)
			h := newHistory()
			for range 200 {
				must(t, h.next(t.Context(), j))
			}
			must(t, j.Close())
			c.spoil(t, path)
			before, err := os.ReadFile(path)
			must(t, err)

			_, err = place.Lead(t.Context())
			for _, want := range append(c.want, path) {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Lead: %v, want it to say %q", err, want)
				}
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestWhereThereCanBeNoFile(t *testing.T) {
	for _, c := range []struct {
		name string
		path func(dir string) string
		want string
	}{
		{"no directory", func(dir string) string { return filepath.Join(dir, "none", "leases.db") }, "make its directory, or name another file with --leases"},
		{"a directory", func(dir string) string { return dir }, "is no lease file"},
		{"a link to nowhere", func(dir string) string {
			must(t, os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "link")))
			return filepath.Join(dir, "link")
		}, "name another file with --leases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.path(t.TempDir())
			_, err := newPlace(path, defaultSizes).Lead(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Lead: %v, want it to say %q of %s", err, c.want, path)
			}
		})
	}
}

func TestNothingIsLeftBesideTheFile(t *testing.T) {
	path := newFile(t)
	must(t, mustLead(t, newPlace(path, defaultSizes)).Close())
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the directory has %v, want the file alone", entries)
	}
}

func TestADamagedValueEndsTheJournal(t *testing.T) {
	place := newPlace(newFile(t), tiny)
	j := mustOpen(t, place)
	h := newHistory()
	must(t, h.next(t.Context(), j))
	must(t, j.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(logBucket(1)).Put(sequenceKey(1), []byte("no value"))
	}))
	want := "log-1/0000000000000001"
	if err := j.Load(t.Context(), func(lease.Change) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Load: %v, want it to name %s", err, want)
	}
	j.start()
	var err error
	eventually(t, "told by Commit", func() bool {
		err = h.next(t.Context(), j)
		return err != nil
	})
	if !strings.Contains(err.Error(), want) {
		t.Errorf("Commit: %v, want it to name %s", err, want)
	}
}
