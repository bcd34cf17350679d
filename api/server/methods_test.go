package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// over makes a request through a real connection: what net/http adds and leaves out
// counts.
func (w *world) over(s *httptest.Server, method, path string, body io.Reader, edits ...func(*http.Request)) reply {
	w.t.Helper()
	var asked *http.Request
	got := w.send(s, method, path, body, append(edits, func(r *http.Request) { asked = r })...)
	if body == nil { // else it was read
		asDocumented(w.t, asked, "", got)
	}
	return got
}

// send is over for answers of somebody else.
func (w *world) send(s *httptest.Server, method, path string, body io.Reader, edits ...func(*http.Request)) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, s.URL+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, edit := range edits {
		edit(req)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	w, _, as := guarded(t, "operator", "read")
	s := httptest.NewServer(w.handler)
	defer s.Close()
	for _, who := range []string{"operator", "read"} {
		for _, path := range []string{
			"/healthz", "/readyz", "/openapi.yaml", "/metrics", "/v1/proxies", "/v1/proxies?healthy=true", "/v1/leases",
			"/v1/proxies/crawl/demo", "/v1/proxies/crawl/none", "/v1/leases?client=me", "/v1/proxies?%zz", "/nothing",
		} {
			get, head := w.over(s, http.MethodGet, path, nil, as[who]), w.over(s, http.MethodHead, path, nil, as[who])
			if get.code != head.code || head.text != "" || get.text == "" {
				t.Errorf("%s by %s: GET %d, HEAD %d with body %q", path, who, get.code, head.code, head.text)
			}
			if diff := cmp.Diff(get.header["Content-Type"], head.header["Content-Type"]); diff != "" {
				t.Errorf("%s by %s:\n%s", path, who, diff)
			}
		}
	}
	if r := w.over(s, http.MethodHead, "/v1/leases", nil); r.code != http.StatusUnauthorized {
		t.Errorf("HEAD by nobody: %d", r.code)
	}
}

func TestOtherMethods(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	for _, tt := range []struct {
		method, path string
		code         int
		allow        string
	}{
		{"PATCH", "/v1/leases/some", 405, "DELETE"},
		{"HEAD", "/v1/leases/some", 405, "DELETE"},
		{"GET", "/v1/leases/some/renew", 405, "POST"},
		{"DELETE", "/v1/leases", 405, "GET, HEAD, POST"},
		{"OPTIONS", "/v1/proxies", 405, "GET, HEAD"},
		{"TRACE", "/healthz", 405, "GET, HEAD"},
		{"BREW", "/v1/leases", 405, "GET, HEAD, POST"},
		{"BREW", "/coffee", 404, ""},
		{"GET", "/v1/leases/a%2Fb", 405, "DELETE"},
		{"PUT", "/v1/proxies/crawl/a%2Fb", 405, "GET, HEAD"},
	} {
		r := w.do(tt.method, tt.path, "")
		word := map[int]string{404: "not_found", 405: "method_not_allowed"}[tt.code]
		if r.code != tt.code || r.header.Get("Allow") != tt.allow || r.field(t, "error") != word {
			t.Errorf("%s %s: %d, Allow %q, %s; want %d, Allow %q", tt.method, tt.path, r.code, r.header.Get("Allow"), r.text, tt.code, tt.allow)
		}
	}
}
