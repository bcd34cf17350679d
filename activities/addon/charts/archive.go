package charts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"example.com/fairlead/activities/fetch"
)

var errThrashing = fetch.Temporary("the chart cache loses files as fast as they come: make it larger")

// Archive is a chart as it was packed, in a file of the cache whose digest was just
// checked. It stays whole while it is open.
type Archive struct {
	Digest string
	Size   int64

	file *os.File
}

// Reader reads it from its beginning, as often as it is called.
func (a *Archive) Reader() io.Reader { return io.NewSectionReader(a.file, 0, a.Size) }

// Close lets the cache have its file.
func (a *Archive) Close() error { return a.file.Close() }

func (f *Fetcher) fetch(ctx context.Context, r Resolved, creds *Credentials) (*Archive, error) {
	if !sha256Digest.MatchString(r.Digest) {
		return nil, fetch.Permanent("it has no digest: resolve it first")
	}
	repo, err := parseURL(r.Repo)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	if err := creds.Check(repo); err != nil {
		return nil, err
	}
	s := f.sessionFor(repo, creds)
	for range 2 {
		file, err := f.files.open(r.Digest)
		if err == nil {
			return open(file, r.Digest)
		}
		if !errors.Is(err, errNotStored) {
			return nil, err
		}
		key := request{url: r.URL, creds: s.creds, home: s.home, digest: r.Digest}
		if _, err := f.flights.Join(ctx, key, f.Limits.Total, func(ctx context.Context) (string, error) {
			return eachURL(r, func(u *url.URL) (string, error) { return f.download(ctx, s, u, r.Digest) })
		}); err != nil {
			return nil, err
		}
	}
	return nil, errThrashing
}

func open(file *os.File, digest string) (*Archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fetch.Temporary("read the chart cache: %w", err), file.Close())
	}
	return &Archive{Digest: digest, Size: info.Size(), file: file}, nil
}

// eachURL returns what the first URL gives that works. If none does, an error that a
// retry may help against counts more than one that stays.
func eachURL(r Resolved, try func(*url.URL) (string, error)) (string, error) {
	var worst error
	for _, raw := range append([]string{r.URL}, r.Mirrors...) {
		u, err := parseURL(raw)
		if err != nil {
			return "", fmt.Errorf("archive: %w", err)
		}
		got, err := try(u)
		if err == nil {
			return got, nil
		}
		if worst == nil || errors.Is(err, ErrTemporary) && !errors.Is(worst, ErrTemporary) {
			worst = at(u, err)
		}
	}
	if n := len(r.Mirrors); n > 0 {
		return "", fmt.Errorf("%w (the index has %d other URLs, which do not work either)", worst, n)
	}
	return "", worst
}

// download puts an archive into the cache if it has the digest.
func (f *Fetcher) download(ctx context.Context, s *session, u *url.URL, digest string) (string, error) {
	content, err := f.content(ctx, s, u, digest)
	if err != nil {
		return "", err
	}
	defer func() { _ = content.Close() }() // what counts was read, or has failed
	return f.files.put(content, f.Limits.ArchiveBytes, digest)
}

func (f *Fetcher) content(ctx context.Context, s *session, u *url.URL, digest string) (io.ReadCloser, error) {
	if u.Scheme == schemeOCI {
		return f.blob(ctx, s, u, digest)
	}
	resp, err := s.get(ctx, u, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(statusError(u, resp.StatusCode), resp.Body.Close())
	}
	return resp.Body, nil
}
