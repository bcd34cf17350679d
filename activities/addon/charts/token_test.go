package charts

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pullToken = "pull-token"

// desk gives tokens for a password.
func desk(t *testing.T, s *site, wantsPassword bool) *site {
	t.Helper()
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if _, password, _ := r.BasicAuth(); wantsPassword && password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		_, _ = fmt.Fprintf(w, `{"token": %q}`, pullToken)
		return true
	}
	return s
}

// wants lets in who has this header, and says how to get it.
func wants(authorization, challenge string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == authorization {
			return false
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

// distant makes https://name.example lead to the site of that name, as if it were
// somewhere else.
func distant(t *testing.T, f *Fetcher, sites map[string]*site) {
	t.Helper()
	transport := f.Transport.(*http.Transport)
	for _, s := range sites {
		if s.TLS != nil {
			transport.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "example.com"}
		}
	}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		s := sites[strings.SplitN(address, ".", 2)[0]]
		if s == nil {
			return nil, fmt.Errorf("nobody is at %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}
}

func TestRegistryWantsAToken(t *testing.T) {
	for _, tt := range []struct {
		name          string
		wantsPassword bool
		creds         *Credentials
	}{
		{"that anybody gets", false, nil},
		{"for a password", true, &Credentials{Username: "me", Password: secret}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, d := newRegistry(t, newTLSSite(t)), desk(t, newTLSSite(t), tt.wantsPassword)
			s.pushShop(t, "1.0.0", "1.1.0")
			s.behind(wants("Bearer "+pullToken, `Bearer realm="https://desk.example/token?x=y",service="reg",scope="repository:team/shop:pull"`))
			f, _ := newFetcher(t)
			distant(t, f, map[string]*site{"registry": s, "desk": d})
			for _, version := range []string{"1.0.0", ""} {
				_, _, err := get(t.Context(), f, Source{Repo: "oci://registry.example/team", Chart: "shop", Version: version}, tt.creds)
				must(t, err)
			}
			want := map[string][]string{"x": {"y"}, "service": {"reg"}, "scope": {"repository:team/shop:pull"}}
			if diff := cmp.Diff(want, map[string][]string(d.asked[0].URL.Query())); diff != "" {
				t.Errorf("the realm was asked for: -want +got:\n%s", diff)
			}
			for _, r := range s.asked {
				if _, password, ok := r.BasicAuth(); ok {
					t.Errorf("the registry got the password %q that the realm is for", password)
				}
			}
		})
	}
}

func TestRegistryWantsAPassword(t *testing.T) {
	s := newRegistry(t, newSite(t))
	s.pushShop(t, "1.0.0")
	creds := Credentials{Username: "me", Password: secret}
	s.behind(wants(creds.Header(), `Basic realm="registry"`))
	f, _ := newFetcher(t)
	_, _, err := get(t.Context(), f, s.ociSource(""), &creds)
	must(t, err)
	_, err = f.Resolve(t.Context(), s.ociSource(""), nil)
	fails(t, err, ErrPermanent, "401", "credentialsSecretRef")
	_, err = f.Resolve(t.Context(), s.ociSource("1.0.0"), &Credentials{Username: "me", Password: secret + "x"})
	fails(t, err, ErrPermanent, "401")
}

func TestRegistryTakesAToken(t *testing.T) {
	s := newRegistry(t, newSite(t))
	s.pushShop(t, "1.0.0")
	s.behind(wants("Bearer "+secret, `Bearer realm="http://127.0.0.1:1/"`))
	f, _ := newFetcher(t)
	_, _, err := get(t.Context(), f, s.ociSource(""), &Credentials{Token: secret})
	must(t, err)
}

func TestPasswordGoesToNoOtherRealm(t *testing.T) {
	creds := &Credentials{Username: "me", Password: secret}
	for _, tt := range []struct{ name, realm, want string }{
		{"in plain text", "http://desk.example/token", "http://desk.example/token for a token, which is not https"},
		{"in plain text on this machine", "http://127.0.0.1/token", "not https"},
		{"with a password in it", "https://me:" + secret + "@desk.example/token", "user name or password"},
		{"that is none", "", "the realm of the registry"},
		{"that redirects elsewhere", "https://desk.example/token", "https://thief.example/: 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, d, thief := newRegistry(t, newTLSSite(t)), newTLSSite(t), newTLSSite(t)
			d.answer = redirectFrom("/token", "https://thief.example/")
			s.behind(wants("Bearer "+pullToken, `Bearer realm="`+tt.realm+`"`))
			f, _ := newFetcher(t)
			distant(t, f, map[string]*site{"registry": s, "desk": d, "thief": thief})
			_, err := f.Resolve(t.Context(), Source{Repo: "oci://registry.example/team", Chart: "shop", Version: "1.0.0"}, creds)
			fails(t, err, ErrPermanent, tt.want)
			for _, r := range thief.asked {
				if r.Header.Get("Authorization") != "" {
					t.Error("somebody else got the password")
				}
			}
		})
	}
}

// TestBlobsElsewhere has them in a storage that wants to know more than its URL.
func TestBlobsElsewhere(t *testing.T) {
	packed := chart(t, "shop", "1.0.0")
	for _, tt := range []struct {
		name  string
		gate  func(http.ResponseWriter, *http.Request) bool
		open  bool // whether the registry itself wants none
		fails bool
	}{
		{"are fetched without credentials", nil, false, false},
		{"that want some get none", wants("Bearer "+secret, `Bearer realm="https://storage.example/token"`), false, true},
		{"that want some of an open registry get none", wants("Bearer "+secret, `Bearer realm="https://storage.example/token"`), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, storage := newRegistry(t, newTLSSite(t)), newTLSSite(t)
			s.pushShop(t, "1.0.0")
			creds := &Credentials{Username: "me", Password: secret}
			s.behind(redirectFrom("/v2/team/shop/blobs/"+digest(packed), "https://storage.example/blob?signature=x"))
			if !tt.open {
				s.behind(wants(creds.Header(), `Basic realm="registry"`))
			}
			storage.put("/blob", packed)
			storage.answer = tt.gate
			f, _ := newFetcher(t)
			distant(t, f, map[string]*site{"registry": s, "storage": storage})
			_, _, err := get(t.Context(), f, Source{Repo: "oci://registry.example/team", Chart: "shop", Version: "1.0.0"}, creds)
			if (err != nil) != tt.fails {
				t.Fatal(err)
			}
			if tt.fails {
				fails(t, err, ErrPermanent, "https://storage.example/blob?…: 401")
			}
			if len(storage.asked) == 0 || len(storage.requests("/token")) > 0 {
				t.Errorf("the storage was asked %d times", len(storage.asked))
			}
			for _, r := range storage.asked {
				if r.Header.Get("Authorization") != "" {
					t.Error("the storage got credentials")
				}
			}
		})
	}
}
