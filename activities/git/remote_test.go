package git_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/activities/git"
)

func TestCredentials(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"a": "1"})
	s := r.serve(true)
	t.Run("are asked for", func(t *testing.T) {
		for _, c := range []*git.Credentials{nil, {Username: user, Password: "wrong"}} {
			reader := s.reader(t)
			_, err := reader.Resolve(t.Context(), s.repoURL(), "main", c)
			_, filesErr := reader.Files(t.Context(), s.repoURL(), commit, c)
			if !git.IsDenied(err) || !git.IsDenied(filesErr) {
				t.Errorf("errors %v, %v", err, filesErr)
			}
		}
	})
	t.Run("are good", func(t *testing.T) {
		reader := s.reader(t)
		got, err := reader.Resolve(t.Context(), s.repoURL(), "", credentials())
		if got != commit || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		_, err = reader.Files(t.Context(), s.repoURL(), commit, credentials())
		must(t, err)
		for _, c := range []*git.Credentials{nil, {Username: user, Password: "wrong"}} {
			if _, err := reader.Files(t.Context(), s.repoURL(), commit, c); !git.IsDenied(err) {
				t.Errorf("who has none, or others, gets what another one has fetched: %v", err)
			}
		}
	})
	t.Run("do not go to another server", func(t *testing.T) {
		var seen []string
		other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			seen = append(seen, req.Header.Get("Authorization"))
		}))
		defer other.Close()
		from := httptest.NewTLSServer(http.RedirectHandler(other.URL+"/.git/info/refs?service=git-upload-pack", http.StatusFound))
		defer from.Close()
		reader := s.reader(t) // all of these have one certificate
		if _, err := reader.Resolve(t.Context(), from.URL+"/.git", "main", credentials()); err == nil {
			t.Error("no error")
		}
		for _, header := range seen {
			if header != "" {
				t.Errorf("the other server was told %q", header)
			}
		}
	})
}

func TestKept(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"a": "1"})
	second := r.commit(map[string]string{"a": "2"})
	t.Run("a commit is fetched once", func(t *testing.T) {
		s := r.serve(false)
		reader := s.reader(t)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := reader.Files(t.Context(), s.repoURL(), second, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := s.packs.Load(); n != 1 {
			t.Errorf("%d packs were sent, want 1", n)
		}
	})
	t.Run("a commit before the tip is fetched from a server that gives tips only", func(t *testing.T) {
		s := r.serve(false)
		_, err := s.reader(t).Files(t.Context(), s.repoURL(), first, nil)
		must(t, err)
	})
	t.Run("a pack that is too large is not", func(t *testing.T) {
		s := r.serve(false)
		reader := s.reader(t)
		reader.MaxPack = 64
		_, err := reader.Files(t.Context(), s.repoURL(), second, nil)
		var large *git.TooLargeError
		if !errors.As(err, &large) {
			t.Errorf("error %v", err)
		}
		empty(t, reader)
	})
	t.Run("what is cut short is not", func(t *testing.T) {
		s := r.serve(false)
		reader := s.reader(t)
		reader.HTTP = &cut{reader.HTTP}
		if _, err := reader.Files(t.Context(), s.repoURL(), second, nil); err == nil {
			t.Error("no error")
		}
		empty(t, reader)
		reader.HTTP = s.Client().Transport
		_, err := reader.Files(t.Context(), s.repoURL(), second, nil)
		must(t, err)
	})
	t.Run("one who goes away stops only their own", func(t *testing.T) {
		s := r.serve(false)
		s.blocked = make(chan struct{})
		reader := s.reader(t)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := reader.Files(ctx, s.repoURL(), second, nil)
			gone <- err
		}()
		eventually(t, "the server is asked", func() bool { return s.packs.Load() == 1 })
		var others sync.WaitGroup
		others.Go(func() {
			if _, err := reader.Files(t.Context(), s.repoURL(), second, nil); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "both wait", func() bool { return reader.Waiting() == 2 })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		close(s.blocked)
		others.Wait()
		if n := s.packs.Load(); n != 1 {
			t.Errorf("%d packs were sent, want 1", n)
		}
	})
	t.Run("what breaks go-git leaves nobody hanging", func(t *testing.T) {
		s := r.serve(false)
		reader := s.reader(t)
		breaks := true
		reader.HTTP = roundTrip(func(req *http.Request) (*http.Response, error) {
			if breaks {
				panic("broken")
			}
			return s.Client().Transport.RoundTrip(req)
		})
		if _, err := reader.Files(t.Context(), s.repoURL(), second, nil); !errors.Is(err, git.ErrPermanent) {
			t.Errorf("error %v", err)
		}
		breaks = false
		_, err := reader.Files(t.Context(), s.repoURL(), second, nil)
		must(t, err)
	})
	t.Run("a server that falls silent is given up", func(t *testing.T) {
		s := r.serve(false)
		s.blocked = make(chan struct{})
		defer close(s.blocked)
		reader := s.reader(t)
		reader.Silence = 100 * time.Millisecond
		_, err := reader.Files(t.Context(), s.repoURL(), second, nil)
		if !errors.Is(err, git.ErrTemporary) || !strings.Contains(err.Error(), "sent nothing for too long") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a server that takes for ever is given up", func(t *testing.T) {
		s := r.serve(false)
		s.blocked = make(chan struct{})
		defer close(s.blocked)
		reader := s.reader(t)
		reader.Total = 200 * time.Millisecond
		_, err := reader.Files(t.Context(), s.repoURL(), second, nil)
		if !errors.Is(err, git.ErrTemporary) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// cut ends every body of an answer early.
type cut struct{ http.RoundTripper }

func (c *cut) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "git-upload-pack") {
		resp.Body = http.MaxBytesReader(nil, resp.Body, 100)
	}
	return resp, err
}

func empty(t *testing.T, r *git.Reader) {
	t.Helper()
	if entries, err := os.ReadDir(r.Dir); err != nil || len(entries) > 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}
