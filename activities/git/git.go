// Package git reads repositories: which commit a name stands for, and the files of a commit.
package git

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"example.com/fairlead/activities/fetch"
)

// Reader reads repositories. A repository is an absolute path on this machine, also with
// file:// in front, or an https:// URL; http:// is for repositories that ask for nothing
// secret, and for this machine. It is safe for concurrent use: callers that want the same
// commit share one request. Zero values of its limits are replaced by their defaults.
type Reader struct {
	// Dir is where files of remote repositories are kept, by this Reader alone. What others
	// have put there stays.
	Dir string
	// MaxPack is how large the pack of a commit may be, in bytes; default 256 MiB.
	MaxPack int64
	// MaxFile is how large a file or the list of a directory may be, in bytes, wherever it
	// is in the repository; default 100 MiB.
	MaxFile int64
	// MaxKept is how much is kept in Dir, in bytes, beside what is being read: what was not
	// read for longest goes; default 1 GiB.
	MaxKept int64
	// Silence is how long a server may send nothing, default 1 minute; Total how long a
	// request takes, default 10 minutes.
	Silence, Total time.Duration
	// HTTP is what requests are sent by; default http.DefaultTransport.
	HTTP http.RoundTripper
	// Now is the clock; default time.Now.
	Now func() time.Time

	once    sync.Once
	key     [32]byte
	flights fetch.Flights[string, struct{}]

	mu   sync.Mutex
	held map[string]int
	tidy bool
}

// Credentials of a repository: of a user, or a token alone. They are sent to its host only.
type Credentials = fetch.Credentials

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Resolve returns the commit of a branch, a tag or HEAD, which an empty name stands for. A
// whole commit is what it stands for itself.
func (r *Reader) Resolve(ctx context.Context, repo, name string, c *Credentials) (commit string, err error) {
	r.once.Do(r.prepare)
	at, err := parse(repo, c)
	if err != nil {
		return "", err
	}
	if commitForm.MatchString(name) {
		return name, nil
	}
	names, err := r.names(ctx, at, c)
	if err != nil {
		return "", fmt.Errorf("list the branches of %s: %w", at, err)
	}
	if name == "" {
		name = "HEAD"
	}
	for _, full := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name} {
		for _, form := range []string{full + "^{}", full} { // the commit of an annotated tag, before the tag
			if commit, ok := names[form]; ok {
				return commit, nil
			}
		}
	}
	return "", &NotFoundError{Repo: at.String(), What: "branch or tag " + name}
}

// Files returns the files of a commit. Symbolic links are told as such, and not followed.
// What it needs of Dir stays there for as long as the caller has the files in use.
func (r *Reader) Files(ctx context.Context, repo, commit string, c *Credentials) (fs.ReadLinkFS, error) {
	r.once.Do(r.prepare)
	at, err := parse(repo, c)
	if err != nil {
		return nil, err
	}
	if !commitForm.MatchString(commit) {
		return nil, fetch.Permanent("read %s: %q is no whole commit of 40 hexadecimal digits", at, commit)
	}
	if at.url == nil {
		return r.local(at, commit)
	}
	files, err := r.fetched(ctx, at, commit, c)
	if err != nil {
		return nil, fmt.Errorf("fetch commit %s of %s: %w", commit, at, err)
	}
	return files, nil
}

func (r *Reader) local(at place, commit string) (*tree, error) {
	store, err := localStore(at.path)
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", at, classify(err))
	}
	return r.filesOf(store, at, commit)
}

// filesOf finds a commit in a repository.
func (r *Reader) filesOf(store storer.EncodedObjectStorer, at place, commit string) (*tree, error) {
	found, err := object.GetCommit(store, plumbing.NewHash(commit))
	if err != nil {
		return nil, &NotFoundError{Repo: at.String(), What: "commit " + commit}
	}
	root, err := found.Tree()
	if err != nil {
		return nil, fetch.Permanent("read commit %s of %s: %w", commit, at, err)
	}
	return &tree{store: store, root: root.Hash, maxFile: r.MaxFile, lists: map[plumbing.Hash][]fs.DirEntry{}}, nil
}

func (r *Reader) prepare() {
	r.MaxPack = cmp.Or(r.MaxPack, 256<<20)
	r.MaxFile = cmp.Or(r.MaxFile, 100<<20)
	r.MaxKept = cmp.Or(r.MaxKept, 1<<30)
	r.Silence = cmp.Or(r.Silence, time.Minute)
	r.Total = cmp.Or(r.Total, 10*time.Minute)
	if r.HTTP == nil {
		r.HTTP = http.DefaultTransport
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	r.key = newKey()
	r.held = map[string]int{}
}
