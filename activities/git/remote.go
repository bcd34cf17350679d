package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const defaultMaxPack = 256 << 20

// names are the commits of all branches and tags, those of annotated tags with ^{} behind.
func (r *Reader) names(ctx context.Context, at place, c *Credentials) (map[string]string, error) {
	if at.url == nil {
		return localNames(at.path)
	}
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
	repo, err := gogit.PlainOpen(path)
	if err != nil {
		return nil, err
	}
	all, err := repo.References()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	err = all.ForEach(func(ref *plumbing.Reference) error {
		hash, err := repo.ResolveRevision(plumbing.Revision(ref.Name()))
		if err == nil { // else it is at nothing yet
			names[ref.Name().String()] = hash.String()
		}
		return nil
	})
	return names, err
}

func (r *Reader) session(at place, c *Credentials) (transport.UploadPackSession, error) {
	endpoint, err := transport.NewEndpoint(at.url.String())
	if err != nil {
		return nil, err
	}
	h := &http.Client{Transport: r.HTTP}
	return githttp.NewClientWithOptions(h, &githttp.ClientOptions{}).NewUploadPackSession(endpoint, c.auth())
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
		return &NotFoundError{Repo: at.String(), What: "commit " + commit + ": it is empty"}
	}
	reply, err := s.UploadPack(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Close() }()
	return r.keep(dir, reply, req.Capabilities)
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

// keep writes a pack into a new repository, as far as it is not too large.
func (r *Reader) keep(dir string, reply *packp.UploadPackResponse, caps *capability.List) error {
	limit := r.MaxPack
	if limit == 0 {
		limit = defaultMaxPack
	}
	pack := &bounded{from: unband(reply, caps), left: limit, limit: limit}
	store := filesystem.NewStorage(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(cache.MiByte))
	if _, err := gogit.InitWithOptions(store, nil, gogit.InitOptions{}); err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	return packfile.UpdateObjectStorage(store, pack)
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

// bounded fails where there is more than limit bytes.
type bounded struct {
	from        io.Reader
	left, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errors.Join(&TooLargeError{Limit: b.limit}, io.ErrUnexpectedEOF)
	}
	return n, err
}
