package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/server"
)

// guarded is a world with one token for each name, whose scope is the name up to
// the first digit.
func guarded(t *testing.T, names ...string) (w *world, path string, as map[string]func(*http.Request)) {
	t.Helper()
	w = newWorld(t, proxy("demo", secured), authSecret())
	path = filepath.Join(t.TempDir(), "tokens.yaml")
	as = map[string]func(*http.Request){}
	var entries []string
	for _, name := range names {
		plain, hash := server.NewToken()
		as[name] = bearing(plain)
		entries = append(entries, entryFor(name, hash))
	}
	writeTokens(t, path, entries...)
	w.options.Tokens = w.openTokens(path)
	w.build()
	return w, path, as
}

func (w *world) openTokens(path string) *server.Tokens {
	w.t.Helper()
	tokens, err := server.OpenTokens(path, w.options.Log, w.clock)
	if err != nil {
		w.t.Fatal(err)
	}
	return tokens
}

func entryFor(name, hash string) string {
	return fmt.Sprintf("- {name: %s, sha256: %s, scopes: [%s]}\n", name, hash, strings.TrimRight(name, "0123456789"))
}

func writeTokens(t *testing.T, path string, entries ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("tokens:\n"+strings.Join(entries, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	w, _, as := guarded(t, "crawler1", "crawler2", "operator", "read")
	plain, _ := server.NewToken()
	as["a stranger"], as["nobody"] = bearing(plain), func(*http.Request) {}
	as["somebody with a password"] = func(r *http.Request) { r.SetBasicAuth("operator", "c4nary") }

	id := w.lease(`{"target":"shop.example"}`, as["crawler1"])
	tests := []struct {
		method, path, body string
		codes              map[string]int
	}{
		{"GET", "/v1/proxies", "", map[string]int{"crawler1": 200, "operator": 200, "read": 200, "a stranger": 401, "nobody": 401, "somebody with a password": 401}},
		{"GET", "/metrics", "", map[string]int{"crawler1": 200, "operator": 200, "read": 200, "nobody": 401}},
		{"POST", "/v1/leases", `{"ttl":1}`, map[string]int{"crawler1": 400, "operator": 400, "read": 403, "a stranger": 401}},
		{"POST", "/v1/leases/" + id + "/renew", "", map[string]int{"crawler1": 200, "crawler2": 404, "operator": 200, "read": 403, "nobody": 401}},
		{"POST", "/v1/leases/" + id + "/report", `{"result":"ok"}`, map[string]int{"crawler1": 204, "crawler2": 404, "operator": 204, "read": 403}},
		{"DELETE", "/v1/leases/" + id, "", map[string]int{"crawler2": 204, "read": 403, "nobody": 401}},
		{"POST", "/v1/proxies/crawl/demo/cooldowns", `{"seconds":1}`, map[string]int{"crawler1": 403, "operator": 201, "read": 403, "nobody": 401}},
		{"DELETE", "/v1/proxies/crawl/demo/cooldowns", "", map[string]int{"crawler1": 403, "operator": 204, "read": 403}},
		{"POST", "/v1/proxies/crawl/demo/replace", "", map[string]int{"crawler1": 403, "operator": 202, "read": 403, "a stranger": 401}},
		{"GET", "/healthz", "", map[string]int{"nobody": 200}},
		{"GET", "/readyz", "", map[string]int{"nobody": 200}},
		{"GET", "/openapi.yaml", "", map[string]int{"nobody": 200}},
	}
	for _, tt := range tests {
		for who, code := range tt.codes {
			if r := w.do(tt.method, tt.path, tt.body, as[who]); r.code != code {
				t.Errorf("%s %s by %s: %d %s, want %d", tt.method, tt.path, who, r.code, r.text, code)
			}
		}
	}
	got := map[string]any{}
	for _, who := range []string{"crawler1", "crawler2", "operator", "read"} {
		got[who] = w.do(http.MethodGet, "/v1/leases", "", as[who]).field(t, "count")
	}
	want := map[string]any{"crawler1": 1.0, "crawler2": 0.0, "operator": 1.0, "read": 1.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a crawler sees its own leases only:\n%s", diff)
	}
	if r := w.do(http.MethodDelete, "/v1/leases/"+id, "", as["crawler1"]); r.code != http.StatusNoContent || w.active() != 0 {
		t.Errorf("release by its owner: %d, %d leases left", r.code, w.active())
	}
}

func TestWhoGuessesTokensIsSlowedDown(t *testing.T) {
	w, _, as := guarded(t, "operator")
	from := func(address string, edits ...func(*http.Request)) reply {
		return w.do(http.MethodGet, "/v1/proxies", "", append(edits, func(r *http.Request) { r.RemoteAddr = address })...)
	}
	spend := func(address string) {
		t.Helper()
		for i := range 20 {
			if r := from(address, bearing("guess")); r.code != http.StatusUnauthorized {
				t.Fatalf("guess %d of %s: %d %s", i, address, r.code, r.text)
			}
		}
	}
	spend("203.0.113.7:1000")
	for _, same := range []string{"203.0.113.7:1000", "203.0.113.7:2000", "[::ffff:203.0.113.7]:1000"} {
		if r := from(same); r.code != http.StatusTooManyRequests || r.field(t, "error") != "too_many_failures" || r.header.Get("Retry-After") != "3" {
			t.Errorf("%s: %d %v %s", same, r.code, r.header, r.text)
		}
	}
	if r := from("203.0.113.7:1000", as["operator"]); r.code != http.StatusOK {
		t.Errorf("a good token: %d %s", r.code, r.text)
	}
	if r := from("203.0.113.8:1000"); r.code != http.StatusUnauthorized {
		t.Errorf("another address: %d", r.code)
	}
	w.pass(3 * time.Second)
	if r := from("203.0.113.7:1000"); r.code != http.StatusUnauthorized {
		t.Errorf("3 s later: %d", r.code)
	}
	spend("[2001:db8:1:2::1]:1000")
	if r := from("[2001:db8:1:2:ffff::2]:1000"); r.code != http.StatusTooManyRequests {
		t.Errorf("another address of the same network: %d", r.code)
	}
	if r := from("[2001:db8:1:3::1]:1000"); r.code != http.StatusUnauthorized {
		t.Errorf("another network: %d", r.code)
	}
}

func TestATokenHasAQuota(t *testing.T) {
	w := newWorld(t, proxy("demo", func(p *crawl.Proxy) { p.Spec.MaxLeases = 10 }), proxy("other", single, region("us")))
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	bounded, hash := server.NewToken()
	free, freeHash := server.NewToken()
	entry := fmt.Sprintf("- {name: bounded, sha256: %s, scopes: [crawler], quota: {leases: 2, waiting: 1}}\n", hash)
	writeTokens(t, path, entry, entryFor("crawler", freeHash))
	w.options.Tokens = w.openTokens(path)
	w.build()
	refused := func(r reply) {
		t.Helper()
		if r.code != http.StatusTooManyRequests || r.field(t, "error") != "quota_exceeded" {
			t.Errorf("%d %s", r.code, r.text)
		}
	}
	w.lease(`{"selector":{"region":"us"}}`, bearing(free))
	w.lease(`{}`, bearing(bounded))
	refused(w.acquire(`{"count":2}`, bearing(bounded)))
	replies := w.waiting(`{"selector":{"region":"us"},"waitSeconds":1}`, bearing(bounded))
	refused(w.acquire(`{"waitSeconds":1}`, bearing(bounded)))
	w.pass(time.Second)
	comes(t, replies)
	w.lease(`{}`, bearing(bounded))
	refused(w.acquire(`{}`, bearing(bounded)))
	w.lease(`{}`, bearing(free))
	w.lease(`{}`, bearing(free))
	if text := w.do(http.MethodGet, "/metrics", "", bearing(free)).text; !contains(text, `lease_requests_total{outcome="quota"} 3`) {
		t.Errorf("refusals are not counted:\n%s", text)
	}
}

func TestUnauthorizedSaysHow(t *testing.T) {
	w, _, _ := guarded(t, "operator")
	r := w.do(http.MethodGet, "/v1/proxies", "")
	if got := r.header.Get("WWW-Authenticate"); got != `Bearer realm="fairlead"` {
		t.Errorf("WWW-Authenticate: %q", got)
	}
}

func TestTokensFileIsReadAgain(t *testing.T) {
	w, path, as := guarded(t, "operator")
	code := func(who func(*http.Request)) int { return w.do(http.MethodGet, "/v1/proxies", "", who).code }
	// A second after the file was written its tokens count; the file's own time is
	// moved on too, since two writes may share a tick of the file system's clock.
	written := 0
	change := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		written++
		at := time.Now().Add(time.Duration(written) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
	}
	plain, hash := server.NewToken()

	change("tokens: [{name: operator, sha256: short, scopes: [operator]}]")
	if got := code(as["operator"]); got != http.StatusOK {
		t.Errorf("an invalid file locked the operator out: %d", got)
	}
	if !strings.Contains(w.log.String(), "64 hexadecimal digits") {
		t.Error("the log does not say what is wrong with the file")
	}
	for _, empty := range []string{"", "tokens: []"} {
		change(empty)
		if got := code(func(*http.Request) {}); got != http.StatusUnauthorized {
			t.Errorf("a file that became %q let everybody in: %d", empty, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Second)
	if got := code(as["operator"]); got != http.StatusOK {
		t.Errorf("a file that is gone locked the operator out: %d", got)
	}
	change("tokens:\n" + entryFor("read", hash))
	if got := code(bearing(plain)); got != http.StatusOK {
		t.Errorf("the new token is unknown: %d", got)
	}
	if got := code(as["operator"]); got != http.StatusUnauthorized {
		t.Errorf("the removed token still works: %d", got)
	}
}

func TestTokensFile(t *testing.T) {
	_, hash := server.NewToken()
	_, other := server.NewToken()
	dir := t.TempDir()
	w := newWorld(t)
	for name, tt := range map[string]struct{ content, says string }{
		"not YAML":              {"tokens: [", "must be YAML"},
		"unknown field":         {"tokens: [{name: a, sha256: " + hash + ", scope: [read]}]", `: unknown field "tokens[0].scope": the fields are name, quota, scopes, sha256`},
		"unknown list":          {"token: []", `: unknown field "token": the fields are tokens`},
		"no name":               {"tokens: [{sha256: " + hash + ", scopes: [read]}]", "tokens[0]: name"},
		"name with a space":     {"tokens: [{name: a b, sha256: " + hash + ", scopes: [read]}]", "tokens[0]: name"},
		"a token, not a hash":   {"tokens: [{name: a, sha256: fairlead_c4nary, scopes: [read]}]", "sha256 of a"},
		"no scopes":             {"tokens: [{name: a, sha256: " + hash + "}]", "scopes of a"},
		"unknown scope":         {"tokens: [{name: a, sha256: " + hash + ", scopes: [root]}]", `"root"`},
		"quota of another kind": {"tokens: [{name: a, sha256: " + hash + ", scopes: [read], quota: {proxies: 1}}]", `: unknown field "tokens[0].quota.proxies": the fields are leases, waiting`},
		"quota of nothing":      {"tokens: [{name: a, sha256: " + hash + ", scopes: [read], quota: {leases: 0}}]", "quota of a: leases is 0: give 1 or more"},
		"quota below nothing":   {"tokens: [{name: a, sha256: " + hash + ", scopes: [read], quota: {waiting: -1}}]", "quota of a: waiting is -1"},
		"name given twice":      {"tokens:\n" + entryFor("read", hash) + entryFor("read", other), "tokens[1]"},
		"hash given twice":      {"tokens:\n" + entryFor("read", hash) + entryFor("operator", strings.ToUpper(hash)), "tokens[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "tokens.yaml")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := server.OpenTokens(path, w.options.Log, w.clock)
			if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error with %q and the file", err, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "c4nary") {
				t.Errorf("the error tells a token: %v", err)
			}
		})
	}
	t.Run("a file that is missing is an error", func(t *testing.T) {
		if _, err := server.OpenTokens(filepath.Join(dir, "none"), w.options.Log, w.clock); err == nil {
			t.Error("no error")
		}
	})
	t.Run("no file, or an empty one, asks nobody, with a warning", func(t *testing.T) {
		empty := filepath.Join(dir, "empty")
		if err := os.WriteFile(empty, []byte("# none yet\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"", empty} {
			w := newWorld(t)
			w.options.Tokens = w.openTokens(path)
			w.build()
			if r := w.do(http.MethodGet, "/v1/proxies", ""); r.code != http.StatusOK || !strings.Contains(w.log.String(), "WARNING") {
				t.Errorf("%q: %d, log %s", path, r.code, w.log)
			}
		}
	})
}
