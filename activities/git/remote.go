package git

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"example.com/fairlead/activities/fetch"
)

// names are the commits of all branches and tags, those of annotated tags with ^{} behind.
func (r *Reader) names(ctx context.Context, at place, c *Credentials) (map[string]string, error) {
	if at.url == nil {
		names, err := localNames(at.path)
		return names, classify(err)
	}
	bounded, cancel := context.WithTimeout(ctx, r.Total)
	defer cancel()
	names, err := r.remoteNames(bounded, at, c)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return names, classify(err)
}

func (r *Reader) remoteNames(ctx context.Context, at place, c *Credentials) (map[string]string, error) {
	s, err := r.session(at, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	told, err := s.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for name, hash := range told.References {
		names[name] = hash.String()
	}
	for name, hash := range told.Peeled {
		names[name+"^{}"] = hash.String()
	}
	if told.Head != nil {
		names["HEAD"] = told.Head.String()
	}
	return names, nil
}

func localNames(path string) (map[string]string, error) {
	repo, err := openLocal(path)
	if err != nil {
		return nil, err
	}
	all, err := repo.References()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	err = all.ForEach(func(ref *plumbing.Reference) error {
		at, err := repo.Reference(ref.Name(), true)
		if errors.Is(err, plumbing.ErrReferenceNotFound) { // it is at nothing yet
			return nil
		}
		if err != nil {
			return err
		}
		commit, err := peeled(repo, at.Hash())
		if commit != "" {
			names[ref.Name().String()] = commit
		}
		return err
	})
	return names, err
}

// peeled is the commit that a reference or a tag is of; empty if it is of something else.
func peeled(repo *gogit.Repository, hash plumbing.Hash) (string, error) {
	for {
		tag, err := repo.TagObject(hash)
		if err == nil {
			hash = tag.Target
			continue
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return "", err
		}
		if _, err := repo.CommitObject(hash); errors.Is(err, plumbing.ErrObjectNotFound) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		return hash.String(), nil
	}
}

// openLocal opens the repository at a path, which may be a working tree of another one.
func openLocal(path string) (*gogit.Repository, error) {
	return gogit.PlainOpenWithOptions(path, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
}

func (r *Reader) session(at place, c *Credentials) (transport.UploadPackSession, error) {
	endpoint, err := transport.NewEndpoint(at.url.String())
	if err != nil {
		return nil, err
	}
	h := &http.Client{Transport: fetch.Listener{Transport: bounded{r.HTTP}, Silence: r.Silence}}
	return githttp.NewClientWithOptions(h, &githttp.ClientOptions{}).NewUploadPackSession(endpoint, auth(c))
}

// fetchInto fetches a commit alone into an empty directory. From a server that gives no
// commit which is not at a name, it fetches all of its history.
func (r *Reader) fetchInto(ctx context.Context, dir string, at place, commit string, c *Credentials) error {
	s, err := r.session(at, c)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	told, err := s.AdvertisedReferencesContext(ctx)
	if err != nil {
		return err
	}
	want := plumbing.NewHash(commit)
	req := packp.NewUploadPackRequestFromCapabilities(told.Capabilities)
	req.Wants = []plumbing.Hash{want}
	if !gives(told, want) {
		req.Wants = everything(told)
	} else if told.Capabilities.Supports(capability.Shallow) {
		req.Depth = packp.DepthCommits(1)
		if err := req.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	if len(req.Wants) == 0 {
		return &NotFoundError{Repo: at.String(), What: "commit " + commit + ": it has no branches and tags"}
	}
	reply, err := s.UploadPack(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Close() }()
	return r.keep(ctx, dir, unband(reply, req.Capabilities))
}

// gives says whether a server gives a commit when it is asked for it alone.
func gives(told *packp.AdvRefs, want plumbing.Hash) bool {
	for _, name := range []capability.Capability{"allow-reachable-sha1-in-want", "allow-any-sha1-in-want"} {
		if told.Capabilities.Supports(name) {
			return true
		}
	}
	for _, at := range everything(told) {
		if at == want {
			return true
		}
	}
	return false
}

func everything(told *packp.AdvRefs) []plumbing.Hash {
	var all []plumbing.Hash
	for name, hash := range told.References {
		if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") {
			all = append(all, hash)
		}
	}
	for _, hash := range told.Peeled {
		all = append(all, hash)
	}
	return all
}

func unband(r io.Reader, caps *capability.List) io.Reader {
	switch {
	case caps.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	case caps.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// Answers other than packs, which go-git reads into memory.
const (
	maxNames   = 64 << 20
	maxRefusal = 64 << 10
)

// bounded bounds answers that are no packs.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode != http.StatusOK:
		resp.Body = &prefix{resp.Body, maxRefusal}
	case req.Method == http.MethodGet:
		resp.Body = &prefix{resp.Body, maxNames}
	}
	return resp, nil
}

// prefix fails where there is more.
type prefix struct {
	io.ReadCloser

	left int64
}

func (p *prefix) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.left -= int64(n); p.left < 0 {
		return 0, fetch.Permanent("an answer is too long for one of a git server")
	}
	return n, err
}
