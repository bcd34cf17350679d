package drain

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/temporal/wire"
)

var demo = wire.DrainInput{Proxy: wire.ProxyRef{Namespace: "crawl", Name: "demo", UID: "u"}, Incarnation: 3}

// looked returns when to look again and why, zero for a proxy without leases.
func looked(t *testing.T, a *Activities) (time.Duration, string) {
	t.Helper()
	err := a.AwaitDrained(t.Context(), demo)
	var notYet *outcome.NotYet
	switch {
	case err == nil:
		return 0, ""
	case !errors.As(err, &notYet):
		t.Fatalf("error = %v, want one that is no failure", err)
	}
	return notYet.After, notYet.What
}

func TestAwaitDrained(t *testing.T) {
	tests := []struct {
		name  string
		code  int
		body  string
		after time.Duration
		says  string
	}{
		{name: "no lease is left", code: 200, body: `{"phase":"Draining","activeLeases":0}`},
		{name: "leases are left", code: 200, body: `{"phase":"Draining","activeLeases":2}`, after: lookEvery, says: "instance 3 of Proxy crawl/demo has leases: 2"},
		{name: "the api may still lend", code: 200, body: `{"phase":"Ready","activeLeases":0}`, after: seenSoon, says: "has not seen yet"},
		{name: "an unknown proxy has no leases", code: 404, body: `{"error":"unknown_proxy"}`},
		{name: "a 404 of something else proves nothing", code: 404, body: `nginx`, after: lookEvery, says: "404"},
		{name: "an answer of something else proves nothing", code: 200, body: `{"phase":"Draining"}`, after: lookEvery, says: "--api-url is no api"},
		{name: "the token is not known", code: 401, body: `{"error":"unauthorized"}`, after: lookEvery, says: "--api-token-file"},
		{name: "the api is not well", code: 503, body: `{"error":"unavailable"}`, after: lookEvery, says: "503 unavailable"},
		{name: "a redirection is not followed", code: 302, after: lookEvery, says: "302"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/proxies/crawl/demo" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer api.Close()
			after, why := looked(t, New(Options{URL: api.URL + "/"}))
			if after != tt.after || !strings.Contains(why, tt.says) {
				t.Errorf("again after %s, %q; want %s, %q", after, why, tt.after, tt.says)
			}
		})
	}
}

func TestAwaitDrainedWithoutAnAPI(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for says, o := range map[string]Options{
		"--api-url":                 {},
		"connection refused":        {URL: gone.URL},
		"(--api-token-file): open ": {URL: gone.URL, TokenFile: filepath.Join(t.TempDir(), "none")},
	} {
		if after, why := looked(t, New(o)); after != lookEvery || !strings.Contains(why, says) {
			t.Errorf("again after %s, %q; want %s, %q", after, why, lookEvery, says)
		}
	}
}

func TestTheTokenIsReadForEachCall(t *testing.T) {
	var sent []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer api.Close()
	file := filepath.Join(t.TempDir(), "token")
	a := New(Options{URL: api.URL, TokenFile: file})
	for _, token := range []string{"first", "second"} {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, why := looked(t, a); strings.Contains(why, token) {
			t.Errorf("the text tells the token: %s", why)
		}
	}
	if diff := cmp.Diff([]string{"Bearer first", "Bearer second"}, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "http://127.0.0.1:8090": true, "https://api.example/fairlead/": true,
		"127.0.0.1:8090": false, "ftp://api": false, "http://": false, "http://[::1": false,
	} {
		if err := (Options{URL: address}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
