package git

import (
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
	"regexp"
	"runtime"
	"strings"

	"example.com/fairlead/activities/fetch"
)

// What begins the names of repositories in Dir.
const (
	// open is for those that everybody may read. They outlive the process.
	open = "open-"
	// closed is for those that somebody's credentials have opened.
	closed = "closed-"
)

var keptForm = regexp.MustCompile(`^(` + open + `|` + closed + `)[0-9a-f]{32}-[0-9a-f]{40}$`)

// fetched returns the files of a commit from Dir, where it is fetched to if it is not there.
func (r *Reader) fetched(ctx context.Context, at place, commit string, c *Credentials) (*tree, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	name := r.nameOf(at, c) + "-" + commit
	r.hold(name)
	files, err := r.provided(ctx, name, at, commit, c)
	if err != nil {
		r.release(name)
		return nil, err
	}
	// Files are read when the caller wants them, and nobody says when that is over.
	runtime.AddCleanup(files, r.release, name)
	return files, nil
}

// provided is for a name that is held.
func (r *Reader) provided(ctx context.Context, name string, at place, commit string, c *Credentials) (*tree, error) {
	if _, err := r.flights.Join(ctx, name, r.Total, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, classify(r.provide(ctx, name, at, commit, c))
	}); err != nil {
		return nil, err
	}
	return r.filesOf(store(filepath.Join(r.Dir, name)), at, commit)
}

// begin takes away what an earlier process has left that nobody can use any more.
func (r *Reader) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tidy {
		return nil
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fetch.Temporary("make the directory of repositories: %w", err)
	}
	kept, err := r.room().List()
	if err != nil {
		return fetch.Temporary("list the repositories that are kept: %w", err)
	}
	for _, k := range kept {
		if strings.HasPrefix(k.Name, open) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.Dir, k.Name)); err != nil {
			return fetch.Temporary("remove a repository of an earlier process: %w", err)
		}
	}
	r.tidy = true
	return nil
}

func (r *Reader) room() fetch.Room {
	return fetch.Room{Dir: r.Dir, Max: r.MaxKept, Now: r.Now, Owns: keptForm.MatchString}
}

func newKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // it does not fail
	return key
}

// nameOf tells repositories apart, and who reads them: what a server gave to one, another
// one must ask it for. The key is this process's own, so that a name tells nothing.
func (r *Reader) nameOf(at place, c *Credentials) string {
	url, who := at.url.String(), c.OrNone()
	if who == (Credentials{}) {
		sum := sha256.Sum256([]byte(url))
		return open + hex.EncodeToString(sum[:16])
	}
	sum := hmac.New(sha256.New, r.key[:])
	for _, s := range []string{url, who.Username, who.Password, who.Token} {
		_, _ = fmt.Fprintf(sum, "%d %s ", len(s), s)
	}
	return closed + hex.EncodeToString(sum.Sum(nil)[:16])
}

// hold keeps a repository from making room for others.
func (r *Reader) hold(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[name]++
}

func (r *Reader) release(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[name]--; r.held[name] == 0 {
		delete(r.held, name)
	}
}

// provide has a whole repository with the commit be in Dir.
func (r *Reader) provide(ctx context.Context, name string, at place, commit string, c *Credentials) error {
	dir := filepath.Join(r.Dir, name)
	if isWhole(dir) {
		return r.room().Use(name)
	}
	unfinished, err := os.MkdirTemp(r.Dir, fetch.Unfinished)
	if err != nil {
		return fetch.Temporary("make a repository: %w", err)
	}
	err = r.fetchInto(ctx, unfinished, at, commit, c)
	if err == nil {
		_, err = r.filesOf(store(unfinished), at, commit) // some servers send anything but the commit
	}
	if err == nil {
		err = r.adopt(unfinished, dir)
	}
	if err = errors.Join(err, os.RemoveAll(unfinished)); err != nil {
		return err
	}
	return errors.Join(r.room().Use(name), r.makeRoom())
}

// adopt gives a repository its name, and removes a damaged one that has it.
func (r *Reader) adopt(unfinished, dir string) error {
	r.mu.Lock() // for a fetch that nobody waits for any more, and its successor
	defer r.mu.Unlock()
	if isWhole(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fetch.Temporary("remove a damaged repository: %w", err)
	}
	return os.Rename(unfinished, dir)
}

func (r *Reader) makeRoom() error {
	r.mu.Lock() // nobody begins to read what goes
	defer r.mu.Unlock()
	return r.room().Make(func(name string) bool { return r.held[name] > 0 })
}

// isWhole says whether a repository has a pack and its index, both without damage.
func isWhole(dir string) bool {
	files, err := fs.Glob(os.DirFS(dir), packs+"/pack-*")
	if err != nil || len(files) != 2 {
		return false
	}
	for _, file := range files {
		if checkSum(filepath.Join(dir, file)) != nil {
			return false
		}
	}
	return true
}
