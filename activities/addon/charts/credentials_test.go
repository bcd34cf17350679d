package charts

import (
	"net/http"
	"strings"
	"testing"
)

// locked lets only who knows the secret in.
func locked(w http.ResponseWriter, r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	if password == secret || r.Header.Get("Authorization") == "Bearer "+secret {
		return false
	}
	w.WriteHeader(http.StatusUnauthorized)
	return true
}

func TestCredentialsOpenARepository(t *testing.T) {
	s := newTLSSite(t)
	s.shop(t, "1.0.0")
	s.answer = locked
	f, _ := newFetcher(t, s)
	for _, tt := range []struct {
		name  string
		creds *Credentials
	}{
		{"a password", &Credentials{Username: "me", Password: secret}},
		{"a token", &Credentials{Token: secret}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := get(t.Context(), f, s.source(""), tt.creds); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("but none do not, whoever had some before", func(t *testing.T) {
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		fails(t, err, ErrPermanent, s.URL+"/charts/index.yaml", "401", "credentialsSecretRef")
	})
	t.Run("and wrong ones do not", func(t *testing.T) {
		_, err := f.Resolve(t.Context(), s.source(""), &Credentials{Username: secret, Password: "wrong"})
		fails(t, err, ErrPermanent, "401")
	})
	t.Run("and what is no header is refused", func(t *testing.T) {
		_, err := f.Resolve(t.Context(), s.source(""), &Credentials{Token: secret + "\n"})
		fails(t, err, ErrPermanent, "line break")
	})
}

func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	creds := &Credentials{Username: "me", Password: secret}
	for _, tt := range []struct {
		name string
		// lead makes the archive be at the other site.
		lead func(repo, other *site, packed []byte)
	}{
		{"when the index has a URL elsewhere", func(repo, other *site, packed []byte) {
			repo.shopAt(digest(packed), other.URL+"/shop.tgz")
		}},
		{"when the archive is redirected", func(repo, other *site, packed []byte) {
			repo.shopAt(digest(packed), "shop.tgz")
			repo.answer = redirectFrom("/charts/shop.tgz", other.URL+"/shop.tgz")
		}},
		{"when the index is redirected", func(repo, other *site, packed []byte) {
			repo.shopAt(digest(packed), other.URL+"/shop.tgz")
			other.put("/index.yaml", repo.files["/charts/index.yaml"])
			repo.answer = redirectFrom("/charts/index.yaml", other.URL+"/index.yaml")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repo, other := newSite(t), newSite(t) // same host, another port
			packed := chart(t, "shop", "1.0.0")
			other.put("/shop.tgz", packed)
			tt.lead(repo, other, packed)
			f, _ := newFetcher(t)
			src := Source{Repo: repo.URL + "/charts?token=" + secret, Chart: "shop"}
			_, content, err := get(t.Context(), f, src, creds)
			if err != nil || string(content) != string(packed) {
				t.Fatal(err)
			}
			if len(repo.requests("/charts/index.yaml")) == 0 || len(other.asked) == 0 {
				t.Fatal("not both were asked")
			}
			for _, r := range other.asked {
				if r.Header.Get("Authorization") != "" || strings.Contains(r.Referer(), secret) {
					t.Errorf("the other origin got %v", r.Header)
				}
			}
			if r := repo.requests("/charts/index.yaml")[0]; r.Header.Get("Authorization") == "" {
				t.Error("the repository got no credentials")
			}
		})
	}
	t.Run("and do not come back from another", func(t *testing.T) {
		repo, other := newSite(t), newSite(t)
		repo.answer = redirectFrom("/charts/index.yaml", other.URL+"/")
		other.answer = redirectFrom("/", repo.URL+"/private")
		f, _ := newFetcher(t)
		_, err := f.Resolve(t.Context(), repo.source(""), creds)
		fails(t, err, ErrPermanent, repo.URL+"/private: 404")
		if r := repo.requests("/private")[0]; r.Header.Get("Authorization") != "" {
			t.Error("the path that another chose got credentials")
		}
	})
	t.Run("which a redirect within it does not leave", func(t *testing.T) {
		repo := newSite(t)
		repo.shop(t, "1.0.0")
		repo.put("/new/index.yaml", repo.files["/charts/index.yaml"])
		repo.answer = redirectFrom("/charts/index.yaml", "/new/index.yaml")
		f, _ := newFetcher(t)
		if _, _, err := get(t.Context(), f, repo.source(""), creds); err != nil {
			t.Fatal(err)
		}
		if r := repo.requests("/new/index.yaml")[0]; r.Header.Get("Authorization") == "" {
			t.Error("the repository got no credentials after its redirect")
		}
	})
}

func redirectFrom(path, to string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == path {
			http.Redirect(w, r, to, http.StatusFound)
		}
		return r.URL.Path == path
	}
}

func TestCredentialsAreNotSentInPlainText(t *testing.T) {
	f, _ := newFetcher(t)
	src := Source{Repo: "http://charts.example.com/x", Chart: "shop", Version: "1.0.0"}
	_, err := f.Resolve(t.Context(), src, &Credentials{Token: secret})
	fails(t, err, ErrPermanent, "over https only")
	r := Resolved{Source: src, Digest: digest(nil), URL: src.Repo + "/shop.tgz"}
	_, err = f.Fetch(t.Context(), r, &Credentials{Username: "me", Password: secret})
	fails(t, err, ErrPermanent, "over https only")
}

func TestSourcesThatAreRefused(t *testing.T) {
	f, _ := newFetcher(t)
	for _, tt := range []struct{ name, repo, chart, want string }{
		{"with a user in the URL", "https://me:" + secret + "@charts.example.com", "shop", "charts.example.com has a user name or password in it"},
		{"with a user in the URL of a registry", "oci://" + secret + "@charts.example.com", "shop", "put them into the Secret"},
		{"with a URL that is none", "https://me:" + secret + "/x@charts.example.com", "shop", "it is no URL"},
		{"with a scheme of another kind", "file:///etc", "shop", "does not begin with https://"},
		{"without a scheme", "charts.example.com", "shop", "does not begin with https://"},
		{"without a host", "https:///charts", "shop", "no host"},
		{"without a chart", "https://charts.example.com", "", "the name of a chart"},
		{"with a chart that leaves its folder", "oci://charts.example.com", "../shop", "the name of a chart"},
		{"with a registry that has no such name", "oci://charts.example.com/UPPER", "shop", "invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.Resolve(t.Context(), Source{Repo: tt.repo, Chart: tt.chart, Version: "1.0.0"}, nil)
			fails(t, err, ErrPermanent, tt.want)
		})
	}
	t.Run("with a user in the URL of an archive", func(t *testing.T) {
		s := newSite(t)
		s.shopAt("", "https://me:"+secret+"@charts.example.com/shop.tgz")
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		fails(t, err, ErrPermanent, s.URL+"/charts/index.yaml", "user name or password")
	})
}
