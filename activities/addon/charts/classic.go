package charts

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"strings"

	"example.com/fairlead/activities/fetch"
)

// resolveClassic looks a chart up in the index of a repository.
func (f *Fetcher) resolveClassic(ctx context.Context, repo *url.URL, src Source, creds *Credentials) (Resolved, error) {
	s := f.sessionFor(repo, creds)
	index := *repo
	index.RawPath = path.Join(index.RawPath, "index.yaml")
	index.Path = path.Join(index.Path, "index.yaml")
	known, err := f.indexed(ctx, s, &index, src.Chart)
	if err != nil {
		return Resolved{}, at(&index, err)
	}
	chosen, err := choose(known, src.Version)
	if err != nil {
		return Resolved{}, at(&index, err)
	}
	r := Resolved{Source: src, Version: chosen.Version}
	if err := r.locate(repo, chosen); err != nil {
		return Resolved{}, at(&index, err)
	}
	if r.Digest == "" {
		err = f.digestOf(ctx, s, &r)
	}
	return r, err
}

// indexed reads what the index says of a chart, as it is now.
func (f *Fetcher) indexed(ctx context.Context, s *session, index *url.URL, chart string) (_ []release, err error) {
	for range 2 {
		digest, err := f.document(ctx, s, index, f.Limits.IndexBytes, encodingGzip)
		if err != nil {
			return nil, err
		}
		file, err := f.files.open(digest)
		if errors.Is(err, errNotStored) {
			f.forget(s, index) // evicted or damaged meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		known, err := f.read(ctx, file, digest, chart)
		return known, errors.Join(err, file.Close())
	}
	return nil, errThrashing
}

// read finds a chart by the contents of the index, which are the same for all charts.
func (f *Fetcher) read(ctx context.Context, index *os.File, digest, chart string) ([]release, error) {
	info, err := index.Stat()
	if err != nil {
		return nil, fetch.Temporary("read the index: %w", err)
	}
	known, err := f.tables.Join(ctx, digest, f.Limits.Total, func(context.Context) (map[string]*block, error) {
		return f.contents(digest)
	})
	if errors.Is(err, errFlow) {
		return flowReleases(index, info.Size(), chart, f.Limits.VersionBytes)
	}
	if err != nil {
		return nil, err
	}
	return releases(index, known, chart, f.Limits.VersionBytes)
}

func choose(known []release, want string) (release, error) {
	if len(known) == 0 {
		return release{}, fetch.Permanent("the chart has no versions")
	}
	versions := make([]string, len(known))
	for i, one := range known {
		versions[i] = one.Version
	}
	i, err := pick(versions, want)
	if err != nil {
		return release{}, err
	}
	return known[i], nil
}

// locate takes over the URLs and the digest of a release.
func (r *Resolved) locate(repo *url.URL, chosen release) error {
	var urls []string
	for _, raw := range chosen.URLs {
		u, err := resolveURL(repo, raw)
		if err != nil {
			return fetch.Permanent("a URL of version %s: %w", chosen.Version, err)
		}
		urls = append(urls, u)
	}
	if len(urls) == 0 {
		return fetch.Permanent("version %s has no URL", chosen.Version)
	}
	r.URL, r.Mirrors = urls[0], urls[1:]
	if chosen.Digest == "" {
		return nil
	}
	r.Digest = sha256Prefix + strings.ToLower(strings.TrimPrefix(chosen.Digest, sha256Prefix))
	if !sha256Digest.MatchString(r.Digest) {
		return fetch.Permanent("the digest of version %s is no SHA-256", chosen.Version)
	}
	return nil
}

// resolveURL does it as Helm does: what is relative is below the repository, and gets
// its query.
func resolveURL(repo *url.URL, raw string) (string, error) {
	ref, err := url.Parse(raw)
	if err != nil {
		return "", fetch.Permanent("it is no URL")
	}
	if !ref.IsAbs() {
		base := *repo
		base.RawPath = strings.TrimSuffix(base.RawPath, "/") + "/"
		base.Path = strings.TrimSuffix(base.Path, "/") + "/"
		ref = base.ResolveReference(ref)
		ref.RawQuery = base.RawQuery
	}
	return ref.String(), checkURL(ref)
}

// digestOf fetches an archive whose index does not say what it should be.
func (f *Fetcher) digestOf(ctx context.Context, s *session, r *Resolved) (err error) {
	r.Digest, err = eachURL(*r, func(u *url.URL) (string, error) {
		if u.Scheme == schemeOCI {
			layer, err := f.layer(ctx, s, u)
			return layer.Digest.String(), err
		}
		return f.document(ctx, s, u, f.Limits.ArchiveBytes, encodingNone)
	})
	return err
}
