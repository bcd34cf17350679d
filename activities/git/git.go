// Package git reads repositories: which commit a name stands for, and the files of a commit.
package git

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// Reader reads repositories. A repository is an absolute path on this machine, also with
// file:// in front, or an https:// URL; http:// is for repositories that ask for nothing
// secret. It is safe for concurrent use.
type Reader struct {
	// Dir is where files of remote repositories are kept, and nothing else is.
	Dir string
	// MaxPack is how large the pack of a commit may be, in bytes. 256 MiB if it is 0.
	MaxPack int64
	// MaxKept is how much is kept in Dir, in bytes: what was not read for longest goes. 1 GiB
	// if it is 0.
	MaxKept int64
	// HTTP is what requests are sent by; http.DefaultTransport if it is nil.
	HTTP http.RoundTripper

	once sync.Once
	key  [32]byte
	mu   sync.Mutex
	// fetching are commits on their way.
	fetching map[string]*fetch
}

// Credentials of a repository: of a user, or a token alone.
type Credentials struct {
	Username string
	Password string // #nosec G117 -- it is for the server
	Token    string
}

func (c *Credentials) auth() transport.AuthMethod {
	switch {
	case c == nil:
		return nil
	case c.Token != "":
		return &githttp.TokenAuth{Token: c.Token}
	}
	return &githttp.BasicAuth{Username: c.Username, Password: c.Password}
}

// String keeps secrets out of what is printed.
func (c *Credentials) String() string { return "credentials" }

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Resolve returns the commit of a branch, a tag or HEAD, which an empty name stands for. A
// whole commit is what it stands for itself.
func (r *Reader) Resolve(ctx context.Context, repo, name string, c *Credentials) (commit string, err error) {
	if commitForm.MatchString(name) {
		return name, nil
	}
	at, err := parse(repo, c)
	if err != nil {
		return "", err
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
func (r *Reader) Files(ctx context.Context, repo, commit string, c *Credentials) (fs.ReadLinkFS, error) {
	if !commitForm.MatchString(commit) {
		return nil, fmt.Errorf("read %s: %q is no whole commit of 40 hexadecimal digits", repo, commit)
	}
	at, err := parse(repo, c)
	if err != nil {
		return nil, err
	}
	dir := at.path
	if at.url != nil {
		if dir, err = r.fetched(ctx, at, commit, c); err != nil {
			return nil, fmt.Errorf("fetch commit %s of %s: %w", commit, at, err)
		}
	}
	opened, err := gogit.PlainOpenWithOptions(dir, &gogit.PlainOpenOptions{DetectDotGit: false})
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", at, err)
	}
	found, err := opened.CommitObject(plumbing.NewHash(commit))
	if err != nil {
		return nil, &NotFoundError{Repo: at.String(), What: "commit " + commit}
	}
	t, err := found.Tree()
	if err != nil {
		return nil, fmt.Errorf("read commit %s of %s: %w", commit, at, err)
	}
	return newTree(opened.Storer, t), nil
}

// place is where a repository is: at a path or a URL.
type place struct {
	path string
	url  *url.URL
}

func (p place) String() string {
	if p.url != nil {
		return p.url.String()
	}
	return p.path
}

// parse refuses what could give a secret away.
func parse(repo string, c *Credentials) (place, error) {
	if path, ok := strings.CutPrefix(repo, "file://"); ok || filepath.IsAbs(repo) {
		if !filepath.IsAbs(path) {
			return place{}, fmt.Errorf("repository %q: a path must be absolute", repo)
		}
		return place{path: filepath.Clean(path)}, nil
	}
	u, err := url.Parse(repo)
	switch {
	case err != nil:
		return place{}, fmt.Errorf("a repository's URL cannot be read: %w", withoutURL(err))
	case u.User != nil:
		return place{}, fmt.Errorf("repository %s: its URL has credentials in it: put them into a Secret", u.Redacted())
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return place{}, fmt.Errorf("repository %q: it must be an https:// URL or an absolute path", repo)
	case u.Scheme == "http" && c != nil:
		return place{}, fmt.Errorf("repository %s: credentials are sent over https only", repo)
	}
	return place{url: u}, nil
}
