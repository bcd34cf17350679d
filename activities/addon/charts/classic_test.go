package charts

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVersionsOfARepository(t *testing.T) {
	s := newSite(t)
	s.shop(t, "1.2.0", "v1.10.0", "1.9.0", "2.0.0-rc.1", "1.9.0+b2")
	f, _ := newFetcher(t)
	for _, tt := range []struct {
		name, version, want string
	}{
		{"none is the newest that is no pre-release", "", "v1.10.0"},
		{"an exact one", "1.2.0", "1.2.0"},
		{"an exact one without its v", "1.10.0", "v1.10.0"},
		{"an exact one with a v too much", "v1.2.0", "1.2.0"},
		{"an exact pre-release", "2.0.0-rc.1", "2.0.0-rc.1"},
		{"an exact one with its build", "1.9.0+b2", "1.9.0+b2"},
		{"a range", "<1.10", "1.9.0"},
		{"a range by tilde", "~1.2", "1.2.0"},
		{"a part is a range", "1", "v1.10.0"},
		{"a range that names a pre-release", ">=1.0.0-0", "2.0.0-rc.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, content, err := get(t.Context(), f, s.source(tt.version), nil)
			must(t, err)
			packed := s.files["/charts/shop-"+tt.want+".tgz"]
			want := Resolved{
				Source: s.source(tt.version), Version: tt.want, Digest: digest(packed),
				URL: s.URL + "/charts/shop-" + tt.want + ".tgz", Mirrors: []string{},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(content) != string(packed) {
				t.Error("the archive is not that of the repository")
			}
		})
	}
	for _, tt := range []struct{ name, version, want string }{
		{"a range that nothing is in", ">=3", "v1.10.0, 1.9.0"},
		{"a range that only a pre-release is in", ">=2.0.0", "no version is"},
		{"no version at all", "next", "neither one of the repository nor a range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.Resolve(t.Context(), s.source(tt.version), nil)
			fails(t, err, ErrPermanent, tt.want, s.URL+"/charts/index.yaml")
		})
	}
}

func TestIndexIsAskedForOnce(t *testing.T) {
	s := newSite(t)
	s.shop(t, "1.0.0")
	const asking = 10
	arrived := make(chan struct{})
	s.answer = func(http.ResponseWriter, *http.Request) bool {
		<-arrived
		return false
	}
	f, clock := newFetcher(t)
	var all sync.WaitGroup
	for range asking {
		all.Go(func() {
			if _, err := f.Resolve(t.Context(), s.source(""), nil); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all wait for one answer", waiting(f, asking))
	close(arrived)
	all.Wait()
	if n := len(s.requests("/charts/index.yaml")); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}

	t.Run("and not again while it is fresh", func(t *testing.T) {
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		must(t, err)
		if n := len(s.requests("/charts/index.yaml")); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
	t.Run("and later only whether it has changed", func(t *testing.T) {
		clock.forward(time.Minute)
		etag := strconv.Quote(digest(s.files["/charts/index.yaml"]))
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		must(t, err)
		asked := s.requests("/charts/index.yaml")
		if len(asked) != 2 || asked[1].Header.Get("If-None-Match") != etag {
			t.Errorf("%d requests, the last with %v", len(asked), asked[len(asked)-1].Header)
		}
	})
	t.Run("and when it has, the new one counts", func(t *testing.T) {
		clock.forward(time.Minute)
		s.shop(t, "1.0.0", "1.1.0")
		got, err := f.Resolve(t.Context(), s.source(""), nil)
		must(t, err)
		if got.Version != "1.1.0" {
			t.Errorf("version %s, want 1.1.0", got.Version)
		}
	})
	t.Run("and wholly with other credentials", func(t *testing.T) {
		before := len(s.requests("/charts/index.yaml"))
		_, err := f.Resolve(t.Context(), s.source(""), &Credentials{Token: secret})
		must(t, err)
		asked := s.requests("/charts/index.yaml")[before:]
		if len(asked) != 1 || asked[0].Header.Get("If-None-Match") != "" {
			t.Errorf("%d requests, want one without conditions", len(asked))
		}
	})
}

func TestURLsOfAnIndex(t *testing.T) {
	for _, tt := range []struct {
		name, repo, url, want string
	}{
		{"relative", "https://a.example/charts", "shop.tgz", "https://a.example/charts/shop.tgz"},
		{"relative to a folder", "https://a.example/charts/", "x/shop.tgz", "https://a.example/charts/x/shop.tgz"},
		{"relative to the host", "https://a.example/charts", "/shop.tgz", "https://a.example/shop.tgz"},
		{"relative with the query of the repository", "https://a.example/charts?key=1", "shop.tgz?key=2", "https://a.example/charts/shop.tgz?key=1"},
		{"absolute", "https://a.example/charts?key=1", "https://b.example/shop.tgz?x=y", "https://b.example/shop.tgz?x=y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repo, err := parseURL(tt.repo)
			must(t, err)
			got, err := resolveURL(repo, tt.url)
			if err != nil || got != tt.want {
				t.Errorf("%s, error %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestDigests(t *testing.T) {
	s := newSite(t)
	packed := chart(t, "shop", "1.0.0")
	s.put("/charts/shop.tgz", packed)
	t.Run("with the algorithm before it", func(t *testing.T) {
		f, _ := newFetcher(t)
		s.shopAt("sha256:"+strings.ToUpper(digest(packed)[7:]), "shop.tgz")
		_, content, err := get(t.Context(), f, s.source(""), nil)
		if err != nil || string(content) != string(packed) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("missing is that of what comes", func(t *testing.T) {
		f, _ := newFetcher(t)
		s.shopAt("", "gone.tgz", "shop.tgz")
		got, content, err := get(t.Context(), f, s.source(""), nil)
		if err != nil || got.Digest != digest(packed) || string(content) != string(packed) {
			t.Errorf("digest %s, error %v", got.Digest, err)
		}
	})
	t.Run("missing is that of the archive, whatever the server calls its compression", func(t *testing.T) {
		other := newSite(t)
		other.put("/charts/shop.tgz", packed)
		other.shopAt("", "shop.tgz")
		other.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ".tgz") {
				w.Header().Set("Content-Encoding", "gzip") // as Apache does by AddEncoding
			}
			return false
		}
		f, _ := newFetcher(t)
		got, content, err := get(t.Context(), f, other.source(""), nil)
		if err != nil || got.Digest != digest(packed) || string(content) != string(packed) {
			t.Errorf("digest %s, error %v", got.Digest, err)
		}
	})
	t.Run("of something else is refused", func(t *testing.T) {
		f, _ := newFetcher(t)
		s.shopAt(digest([]byte("else")), "shop.tgz")
		_, _, err := get(t.Context(), f, s.source(""), nil)
		fails(t, err, ErrPermanent, s.URL+"/charts/shop.tgz", digest(packed), digest([]byte("else")))
		if files, err := f.files.room().List(); err != nil || len(files) != 1 {
			t.Errorf("the cache has %d files, error %v; want only the index", len(files), err)
		}
	})
	t.Run("that is none is refused", func(t *testing.T) {
		f, _ := newFetcher(t)
		s.shopAt("md5:1234", "shop.tgz")
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		fails(t, err, ErrPermanent, "no SHA-256")
	})
	t.Run("of a chart whose first URL does not work", func(t *testing.T) {
		f, _ := newFetcher(t)
		s.shopAt(digest(packed), "gone.tgz", s.URL+"/charts/shop.tgz")
		_, content, err := get(t.Context(), f, s.source(""), nil)
		if err != nil || string(content) != string(packed) {
			t.Errorf("error %v", err)
		}
	})
}
