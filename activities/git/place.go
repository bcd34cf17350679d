package git

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"example.com/fairlead/activities/fetch"
)

// place is where a repository is: at a path or a URL.
type place struct {
	path string
	url  *url.URL
}

func (p place) String() string {
	if p.url != nil {
		return fetch.Shown(p.url)
	}
	return p.path
}

var ownerAndName = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)

// parse refuses what could give a secret away. Its errors do not quote what it was given,
// which may have a password anywhere.
func parse(repo string, c *Credentials) (place, error) {
	if path, ok := strings.CutPrefix(repo, "file://"); ok || filepath.IsAbs(repo) {
		if !filepath.IsAbs(path) {
			return place{}, fetch.Permanent("repository %q: a path must be absolute", repo)
		}
		return place{path: filepath.Clean(path)}, nil
	}
	if ownerAndName.MatchString(repo) {
		return place{}, fetch.Permanent("repository %s: which host has it is not said: give its https:// URL", repo)
	}
	return parseURL(repo, c)
}

func parseURL(repo string, c *Credentials) (place, error) {
	u, err := url.Parse(repo)
	switch {
	case err != nil:
		return place{}, fetch.Permanent("a repository's URL cannot be read: write it as https://host/path")
	case u.Scheme != fetch.SchemeHTTPS && u.Scheme != fetch.SchemeHTTP || u.Host == "":
		return place{}, fetch.Permanent("a repository must be an https:// URL or an absolute path")
	case u.User != nil:
		return place{}, fetch.Permanent("repository %s: its URL has credentials in it: put them into a Secret", fetch.Shown(u))
	case u.RawQuery != "" || u.Fragment != "":
		return place{}, fetch.Permanent("repository %s: its URL has a query or fragment, which says nothing of a repository: take it off", fetch.Shown(u))
	}
	if err := c.Check(u); err != nil {
		return place{}, err
	}
	return place{url: u}, nil
}

// auth is how go-git sends credentials.
func auth(c *Credentials) transport.AuthMethod {
	switch {
	case c == nil || *c == Credentials{}:
		return nil
	case c.Token != "":
		return &githttp.TokenAuth{Token: c.Token}
	}
	return &githttp.BasicAuth{Username: c.Username, Password: c.Password}
}
