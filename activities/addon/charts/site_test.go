package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// site is a web server of a test that remembers what it was asked.
type site struct {
	*httptest.Server

	mu    sync.Mutex
	files map[string][]byte
	asked []*http.Request
	// answer is asked first; it says whether it has answered.
	answer func(http.ResponseWriter, *http.Request) bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{files: map[string][]byte{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func newTLSSite(t *testing.T) *site {
	t.Helper()
	s := &site{files: map[string][]byte{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	content, answer := s.files[r.URL.Path], s.answer
	s.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	if content == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf("%q", digest(content)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *site) put(path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = content
}

// requests for a path, in their order.
func (s *site) requests(path string) []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(r *http.Request) bool { return r.URL.Path != path })
}

// chart is an archive as Helm packs it.
func chart(t *testing.T, name, version string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	text := fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)
	must(t, files.WriteHeader(&tar.Header{Name: name + "/Chart.yaml", Mode: 0o644, Size: int64(len(text))}))
	_, err := io.WriteString(files, text)
	must(t, err)
	must(t, files.Close())
	must(t, zipped.Close())
	return packed.Bytes()
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// shop serves versions of the chart shop and their index at /charts.
func (s *site) shop(t *testing.T, versions ...string) {
	t.Helper()
	index := strings.Builder{}
	index.WriteString("apiVersion: v1\nentries:\n  shop:\n")
	for _, version := range versions {
		packed := chart(t, "shop", version)
		s.put("/charts/shop-"+version+".tgz", packed)
		fmt.Fprintf(&index, "  - version: %s\n    digest: %s\n    urls:\n    - shop-%s.tgz\n", version, strings.TrimPrefix(digest(packed), "sha256:"), version)
	}
	s.put("/charts/index.yaml", []byte(index.String()))
}

// shopAt serves an index that has one version of shop, at these URLs.
func (s *site) shopAt(digest string, urls ...string) {
	index := "entries:\n  shop:\n  - version: 1.0.0\n    digest: '" + digest + "'\n    urls:\n"
	for _, u := range urls {
		index += "    - " + u + "\n"
	}
	s.put("/charts/index.yaml", []byte(index))
}

func (s *site) source(version string) Source {
	return Source{Repo: s.URL + "/charts", Chart: "shop", Version: version}
}

// clock is one that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newFetcher(t *testing.T, sites ...*site) (*Fetcher, *clock) {
	t.Helper()
	transport := NewTransport()
	for _, s := range sites {
		if s.TLS != nil {
			transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	c := &clock{now: time.Now()}
	return &Fetcher{Dir: t.TempDir(), Transport: transport, Now: c.Now}, c
}

// get resolves and fetches, and returns what came.
func get(ctx context.Context, f *Fetcher, src Source, creds *Credentials) (Resolved, []byte, error) {
	r, err := f.Resolve(ctx, src, creds)
	if err != nil {
		return r, nil, err
	}
	a, err := f.Fetch(ctx, r, creds)
	if err != nil {
		return r, nil, err
	}
	content, err := io.ReadAll(a.Reader())
	if err == nil {
		err = a.Close()
	}
	return r, content, err
}

// waiting says whether n callers wait for what is under way.
func waiting(f *Fetcher, n int) func() bool {
	return func() bool { return f.flights.Waiting() == n }
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 10 s: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails checks the class of an error, its words, and that it gives nothing away.
func fails(t *testing.T, err, class error, words ...string) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Errorf("error %v; want a %v", err, class)
	}
	if err == nil {
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("error %q has the secret", err)
	}
}

// secret is in credentials and URLs, and must be nowhere else.
const secret = "s3cr3t"
