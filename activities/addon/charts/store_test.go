package charts

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/activities/fetch"
)

func TestArchiveComesFromTheCache(t *testing.T) {
	s := newSite(t)
	s.shop(t, "1.0.0")
	f, _ := newFetcher(t)
	r, _, err := get(t.Context(), f, s.source(""), nil)
	must(t, err)
	other := &Fetcher{Dir: f.Dir}
	a, err := other.Fetch(t.Context(), r, nil)
	must(t, err)
	must(t, a.Close())
	if n := len(s.requests("/charts/shop-1.0.0.tgz")); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}

	t.Run("but not when it was damaged there", func(t *testing.T) {
		must(t, os.WriteFile(f.files.path(r.Digest), []byte("damaged"), 0o600))
		_, content, err := get(t.Context(), f, s.source(""), nil)
		if err != nil || digest(content) != r.Digest {
			t.Errorf("error %v", err)
		}
		if n := len(s.requests("/charts/shop-1.0.0.tgz")); n != 2 {
			t.Errorf("%d downloads, want 2", n)
		}
	})
	t.Run("nor the index", func(t *testing.T) {
		must(t, os.WriteFile(f.files.path(digest(s.files["/charts/index.yaml"])), []byte("damaged"), 0o600))
		if _, err := f.Resolve(t.Context(), s.source(""), nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("and is read from its beginning each time", func(t *testing.T) {
		a, err := f.Fetch(t.Context(), r, nil)
		must(t, err)
		for range 2 {
			content, err := io.ReadAll(a.Reader())
			if err != nil || digest(content) != r.Digest || int64(len(content)) != a.Size {
				t.Errorf("%d bytes, error %v", len(content), err)
			}
		}
		must(t, a.Close())
	})
	t.Run("only with a digest", func(t *testing.T) {
		_, err := f.Fetch(t.Context(), Resolved{Source: s.source(""), Digest: "../../etc/passwd"}, nil)
		fails(t, err, ErrPermanent, "no digest")
	})
}

func TestCallersShareADownload(t *testing.T) {
	s := newSite(t)
	s.shop(t, "1.0.0")
	f, _ := newFetcher(t)
	r, err := f.Resolve(t.Context(), s.source(""), nil)
	must(t, err)
	arrived := make(chan struct{})
	s.answer = func(http.ResponseWriter, *http.Request) bool {
		<-arrived
		return false
	}
	impatient, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	fetch := func(ctx context.Context, want error) {
		a, err := f.Fetch(ctx, r, nil)
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		if err == nil && a.Close() != nil {
			t.Error("the archive cannot be closed")
		}
	}
	all.Go(func() { fetch(impatient, context.Canceled) })
	eventually(t, "the first one waits", waiting(f, 1))
	for range 4 {
		all.Go(func() { fetch(t.Context(), nil) })
	}
	eventually(t, "all wait", waiting(f, 5))
	leave() // who began it does not end it
	eventually(t, "the first one has gone", waiting(f, 4))
	close(arrived)
	all.Wait()
	if n := len(s.requests("/charts/shop-1.0.0.tgz")); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

func TestDownloadEndsWithItsLastCaller(t *testing.T) {
	s := newSite(t)
	s.shop(t, "1.0.0")
	f, _ := newFetcher(t)
	r, err := f.Resolve(t.Context(), s.source(""), nil)
	must(t, err)
	ctx, leave := context.WithCancel(t.Context())
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		leave()
		return silent(w, r)
	}
	_, err = f.Fetch(ctx, r, nil)
	fails(t, err, context.Canceled)
	f.flights.Wait()
	if files, err := f.files.room().List(); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, error %v; want only the index", len(files), err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := &clock{now: time.Now()}
	s := &store{dir: t.TempDir(), max: 1000, now: c.Now}
	put := func(content string) string {
		t.Helper()
		c.forward(time.Second)
		d, err := s.put(strings.NewReader(content), 2000, "")
		must(t, err)
		return d
	}
	a, b := put(strings.Repeat("a", 400)), put(strings.Repeat("b", 400))
	c.forward(time.Second)
	file, err := s.open(a)
	must(t, err)
	left := filepath.Join(s.dir, fetch.Unfinished+"1")
	must(t, os.WriteFile(left, nil, 0o600))
	foreign := filepath.Join(s.dir, "foreign")
	must(t, os.WriteFile(foreign, make([]byte, 5000), 0o600))

	d := put(strings.Repeat("d", 400))
	if !s.has(a) || s.has(b) || !s.has(d) {
		t.Error("what was not used for longest is there, or something else is not")
	}
	e := put(strings.Repeat("e", 1500))
	if s.has(a) || s.has(d) || !s.has(e) {
		t.Error("what is larger than the cache is not alone in it")
	}
	if content, err := io.ReadAll(file); err != nil || digest(content) != a {
		t.Errorf("what is open is not whole: %v", err)
	}
	must(t, file.Close())
	if _, err := os.Stat(left); err != nil {
		t.Errorf("what somebody still writes is gone: %v", err)
	}
	c.forward(2 * time.Hour)
	put("f")
	if _, err := os.Stat(left); err == nil {
		t.Error("what nobody writes any more is there")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("what is not ours is gone: %v", err)
	}
}
