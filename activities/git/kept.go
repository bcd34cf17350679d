package git

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	defaultMaxKept = 1 << 30
	// part begins the names of directories that are not complete.
	part = "part-"
)

// fetch is a commit on its way, for all who ask for it at the same time.
type fetch struct {
	done chan struct{}
	dir  string
	err  error
}

// fetched returns the repository in Dir that has a commit, which is fetched if there is none.
func (r *Reader) fetched(ctx context.Context, at place, commit string, c *Credentials) (string, error) {
	name := r.nameOf(at, c) + "-" + commit
	for {
		r.mu.Lock()
		f := r.fetching[name]
		if f == nil {
			break
		}
		r.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if f.err == nil {
			return f.dir, nil
		} // its credentials may be others: everybody's failure is their own
	}
	f := &fetch{done: make(chan struct{})}
	if r.fetching == nil {
		r.fetching = map[string]*fetch{}
	}
	r.fetching[name] = f
	r.mu.Unlock()
	f.dir, f.err = r.fetch(ctx, name, at, commit, c)
	r.mu.Lock()
	delete(r.fetching, name)
	r.mu.Unlock()
	close(f.done)
	return f.dir, f.err
}

// nameOf tells repositories apart, and who reads them: what a server gave to one, another
// one must ask it for. The key is this process's own, so that a name tells nothing.
func (r *Reader) nameOf(at place, c *Credentials) string {
	r.once.Do(func() { _, _ = rand.Read(r.key[:]) })
	sum := hmac.New(sha256.New, r.key[:])
	who := Credentials{}
	if c != nil {
		who = *c
	}
	for _, s := range []string{at.String(), who.Username, who.Password, who.Token} {
		_, _ = fmt.Fprintf(sum, "%d %s ", len(s), s)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// fetch looks for a commit in Dir, and fetches it if it is not there.
func (r *Reader) fetch(ctx context.Context, name string, at place, commit string, c *Credentials) (string, error) {
	dir := filepath.Join(r.Dir, name)
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		return dir, os.Chtimes(dir, now, now)
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return "", err
	}
	if err := r.makeRoom(); err != nil {
		return "", err
	}
	unfinished, err := os.MkdirTemp(r.Dir, part)
	if err != nil {
		return "", err
	}
	err = r.fetchInto(ctx, unfinished, at, commit, c)
	if err == nil {
		err = os.Rename(unfinished, dir)
	}
	return dir, errors.Join(err, os.RemoveAll(unfinished))
}

// makeRoom deletes what was not read for longest, where there is more than MaxKept.
func (r *Reader) makeRoom() error {
	limit := r.MaxKept
	if limit == 0 {
		limit = defaultMaxKept
	}
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return err
	}
	type kept struct {
		path string
		used time.Time
		size int64
	}
	var all []kept
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		k := kept{path: filepath.Join(r.Dir, e.Name()), used: info.ModTime()}
		if strings.HasPrefix(e.Name(), part) && time.Since(k.used) < time.Hour {
			continue // somebody fetches it
		}
		k.size = sizeOf(k.path)
		sum += k.size
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	for _, k := range all {
		if sum <= limit {
			break
		}
		if err := os.RemoveAll(k.path); err != nil {
			return fmt.Errorf("make room for repositories: %w", err)
		}
		sum -= k.size
	}
	return nil
}

func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}
