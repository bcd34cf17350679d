package charts

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"example.com/fairlead/activities/fetch"
)

// Encodings that are asked for.
const (
	encodingGzip = "gzip"
	encodingNone = "identity"
)

// maxSightings bounds what is remembered of documents.
const maxSightings = 1024

// sighting is what was last seen at a URL. It is kept in memory only: a file would
// have to tell one user's view from another's by something made of their passwords.
type sighting struct {
	digest, etag, modified string
	asked                  time.Time
}

// document returns the digest of what is at u now, which may change, and has it in the
// cache. It asks at most once in Limits.Fresh, and only for what has changed.
func (f *Fetcher) document(ctx context.Context, s *session, u *url.URL, limit int64, encoding string) (string, error) {
	key := request{url: u.String(), creds: s.creds, home: s.home}
	return f.flights.Join(ctx, key, f.Limits.Total, func(ctx context.Context) (string, error) {
		last := f.lastSeen(key)
		if last.digest != "" && f.Now().Sub(last.asked) < f.Limits.Fresh {
			return last.digest, nil
		}
		now, err := f.look(ctx, s, u, limit, encoding, last)
		if err != nil {
			return "", at(u, err)
		}
		f.remember(key, now)
		return now.digest, nil
	})
}

// lastSeen is empty when the cache has lost it.
func (f *Fetcher) lastSeen(key request) sighting {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := f.seen[key]; last.digest != "" && f.files.has(last.digest) {
		return last
	}
	return sighting{}
}

func (f *Fetcher) remember(key request, now sighting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[key] = now
	for len(f.seen) > maxSightings {
		oldest := key
		for k, s := range f.seen {
			if s.asked.Before(f.seen[oldest].asked) {
				oldest = k
			}
		}
		delete(f.seen, oldest)
	}
}

func (f *Fetcher) forget(s *session, u *url.URL) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen, request{url: u.String(), creds: s.creds, home: s.home})
}

func (f *Fetcher) look(ctx context.Context, s *session, u *url.URL, limit int64, encoding string, last sighting) (sighting, error) {
	header := http.Header{"Accept-Encoding": {encoding}}
	if last.etag != "" {
		header.Set("If-None-Match", last.etag)
	}
	if last.modified != "" {
		header.Set("If-Modified-Since", last.modified)
	}
	asked := f.Now()
	resp, err := s.get(ctx, u, header)
	if err != nil {
		return sighting{}, err
	}
	defer func() { _ = resp.Body.Close() }() // what counts was read, or has failed
	switch {
	case resp.StatusCode == http.StatusNotModified && last.digest != "":
		last.asked = asked
		return last, nil
	case resp.StatusCode != http.StatusOK:
		return sighting{}, statusError(u, resp.StatusCode)
	}
	content, err := decoded(resp, encoding)
	if err != nil {
		return sighting{}, err
	}
	digest, err := f.files.put(content, limit, "")
	if err != nil {
		return sighting{}, err
	}
	return sighting{digest: digest, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified"), asked: asked}, nil
}

// decoded undoes the compression that was asked for. Its reader is bounded by whoever
// reads it, whatever the compressed size is.
func decoded(resp *http.Response, asked string) (io.Reader, error) {
	if asked == encodingNone {
		return resp.Body, nil // some servers call every .tgz encoded: its own compression stays
	}
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", encodingNone:
		return resp.Body, nil
	case encodingGzip:
		content, err := gzip.NewReader(resp.Body)
		if fetch.HasClass(err) {
			return nil, err
		}
		if err != nil {
			return nil, fetch.Permanent("it says that it is compressed with gzip, and is not")
		}
		return content, nil
	default:
		return nil, fetch.Permanent("it is compressed in a way that nobody asked for")
	}
}
