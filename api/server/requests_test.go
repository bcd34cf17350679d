package server_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	large := `{"target":"` + strings.Repeat("x", 64<<10) + `"}`
	tests := []struct {
		name               string
		method, path, body string
		code               int
		word, says         string
	}{
		{"no such route", "GET", "/v2/leases", "", 404, "not_found", "/openapi.yaml"},
		{"another method", "PUT", "/v1/leases", "", 405, "method_not_allowed", "use GET, HEAD, POST"},
		{"no such proxy", "GET", "/v1/proxies/crawl/none", "", 404, "unknown_proxy", "crawl/none"},
		{"unknown parameter", "GET", "/v1/proxies?region=eu", "", 400, "invalid_query", "attr.<name>=<value>"},
		{"attribute without name", "GET", "/v1/proxies?attr.=eu", "", 400, "invalid_query", "attr."},
		{"attribute given twice", "GET", "/v1/proxies?attr.a=1&attr.a=2", "", 400, "invalid_query", "attr.a is given 2 times"},
		{"healthy is neither", "GET", "/v1/proxies?healthy=maybe", "", 400, "invalid_query", "true or false"},
		{"healthy without value", "GET", "/v1/proxies?healthy", "", 400, "invalid_query", "true or false"},
		{"parameter of a list without any", "GET", "/v1/leases?client=me", "", 400, "invalid_query", `"client"`},
		{"escape of a list of proxies", "GET", "/v1/proxies?attr.country=%zz", "", 400, "invalid_query", "%zz"},
		{"half an escape", "GET", "/v1/proxies?attr.country=e%", "", 400, "invalid_query", "%"},
		{"semicolons", "GET", "/v1/proxies?attr.a=1;attr.b=2", "", 400, "invalid_query", "with &"},
		{"escape of a list of leases", "GET", "/v1/leases?%zz", "", 400, "invalid_query", "%zz"},
		{"escape of one proxy", "GET", "/v1/proxies/crawl/demo?%zz", "", 400, "invalid_query", "%zz"},
		{"escape of a loan", "POST", "/v1/leases?%zz", "{}", 400, "invalid_query", "%zz"},
		{"escape of a release", "DELETE", "/v1/leases/none?a;b", "", 400, "invalid_query", "with &"},
		{"escape of a probe", "GET", "/healthz?%zz", "", 400, "invalid_query", "%zz"},
		{"escape of a scrape", "GET", "/metrics?%zz", "", 400, "invalid_query", "%zz"},
		{"no body", "POST", "/v1/leases", "", 415, "unsupported_media_type", "Content-Type"},
		{"blank body", "POST", "/v1/leases", " ", 400, "invalid_body", "JSON object"},
		{"not JSON", "POST", "/v1/leases", `{"target"`, 400, "invalid_body", "not JSON"},
		{"not an object", "POST", "/v1/leases", `[]`, 400, "invalid_body", "JSON object"},
		{"null", "POST", "/v1/leases", `null`, 400, "invalid_body", "JSON object"},
		{"unknown field", "POST", "/v1/leases", `{"ttl":5}`, 400, "invalid_body", `unknown field "ttl": the fields are atLeast, count, exclusive, priority, selector, session, target, ttlSeconds, waitSeconds`},
		{"unknown field of a report", "POST", "/v1/leases/none/report", `{"result":"ok","targett":"a"}`, 400, "invalid_body", `unknown field "targett": the fields are result, retryAfterSeconds, target`},
		{"field of another case", "POST", "/v1/leases", `{"TTLSeconds":5}`, 400, "invalid_body", `"TTLSeconds"`},
		{"field given twice", "POST", "/v1/leases", `{"target":"a","target":"b"}`, 400, "invalid_body", `"target"`},
		{"trailing garbage", "POST", "/v1/leases", `{} {}`, 400, "invalid_body", "after top-level value"},
		{"not UTF-8", "POST", "/v1/leases", "{\"target\":\"\xff\"}", 400, "invalid_body", "UTF-8"},
		{"too large", "POST", "/v1/leases", large, 413, "body_too_large", "65536"},
		{"selector of another type", "POST", "/v1/leases", `{"selector":{"region":7}}`, 400, "invalid_body", "selector"},
		{"selector without name", "POST", "/v1/leases", `{"selector":{"":"eu"}}`, 400, "invalid_selector", "without a name"},
		{"selector with prefix", "POST", "/v1/leases", `{"selector":{"attr.region":"eu"}}`, 400, "invalid_selector", `selector["attr.region"]`},
		{"selector with spaces", "POST", "/v1/leases", `{"selector":{"the region":"eu"}}`, 400, "invalid_body", `selector["the region"]`},
		{"target with a line break", "POST", "/v1/leases", `{"target":"a\nb"}`, 400, "invalid_body", "target"},
		{"target too long", "POST", "/v1/leases", `{"target":"` + strings.Repeat("x", 254) + `"}`, 400, "invalid_body", "target"},
		{"ttl of another type", "POST", "/v1/leases", `{"ttlSeconds":"5m"}`, 400, "invalid_body", "ttlSeconds"},
		{"ttl with a fraction", "POST", "/v1/leases", `{"ttlSeconds":1.5}`, 400, "invalid_body", "ttlSeconds"},
		{"no ttl at all", "POST", "/v1/leases", `{"ttlSeconds":0}`, 400, "invalid_ttl", "between 1 and 3600"},
		{"negative ttl", "POST", "/v1/leases", `{"ttlSeconds":-1}`, 400, "invalid_ttl", "between 1 and 3600"},
		{"ttl over the maximum", "POST", "/v1/leases", `{"ttlSeconds":3601}`, 400, "invalid_ttl", "between 1 and 3600"},
		{"ttl beyond all numbers", "POST", "/v1/leases", `{"ttlSeconds":1e99}`, 400, "invalid_body", "ttlSeconds"},
		{"no leases at all", "POST", "/v1/leases", `{"count":0}`, 400, "invalid_body", "count must be between 1 and 100"},
		{"more leases than are lent at once", "POST", "/v1/leases", `{"count":101}`, 400, "invalid_body", "count must be between 1 and 100"},
		{"at least what is not asked for", "POST", "/v1/leases", `{"atLeast":1}`, 400, "invalid_body", "give count too"},
		{"at least more than all", "POST", "/v1/leases", `{"count":2,"atLeast":3}`, 400, "invalid_body", "atLeast must be between 1 and count, which is 2"},
		{"at least nothing", "POST", "/v1/leases", `{"count":2,"atLeast":0}`, 400, "invalid_body", "atLeast"},
		{"several leases of a session", "POST", "/v1/leases", `{"count":2,"session":"s"}`, 400, "invalid_body", "a session has one proxy"},
		{"session with a space", "POST", "/v1/leases", `{"session":"a b"}`, 400, "invalid_body", "session must not have spaces"},
		{"wait without end", "POST", "/v1/leases", `{"waitSeconds":61}`, 400, "invalid_body", "waitSeconds must be between 0 and 60"},
		{"wait backwards", "POST", "/v1/leases", `{"waitSeconds":-1}`, 400, "invalid_body", "waitSeconds must be between 0 and 60"},
		{"priority over the highest", "POST", "/v1/leases", `{"priority":10}`, 400, "invalid_body", "priority must be between 0 and 9"},
		{"priority below the lowest", "POST", "/v1/leases", `{"priority":-1}`, 400, "invalid_body", "priority must be between 0 and 9"},
		{"target that is a URL", "POST", "/v1/leases", `{"target":"https://shop.example/"}`, 400, "invalid_body", `target "https://shop.example/" is no host: give the name or address alone`},
		{"report on a URL", "POST", "/v1/leases/none/report", `{"result":"ok","target":"shop.example/cart"}`, 400, "invalid_body", "is no host"},
		{"retry after a ban", "POST", "/v1/leases/none/report", `{"result":"banned","retryAfterSeconds":1}`, 400, "invalid_body", "rate_limited only"},
		{"retry after no time", "POST", "/v1/leases/none/report", `{"result":"rate_limited","retryAfterSeconds":0}`, 400, "invalid_body", "between 1 and 86400"},
		{"retry after days", "POST", "/v1/leases/none/report", `{"result":"rate_limited","retryAfterSeconds":86401}`, 400, "invalid_body", "between 1 and 86400"},
		{"rest of no proxy", "POST", "/v1/proxies/crawl/none/cooldowns", `{"seconds":1}`, 404, "unknown_proxy", "there is no proxy crawl/none, "},
		{"rest without end", "POST", "/v1/proxies/crawl/demo/cooldowns", `{"seconds":86401}`, 400, "invalid_body", "seconds must be between 1 and 86400"},
		{"rest without time", "POST", "/v1/proxies/crawl/demo/cooldowns", `{}`, 400, "invalid_body", "seconds must be between 1 and 86400"},
		{"rest for no host", "POST", "/v1/proxies/crawl/demo/cooldowns", `{"seconds":1,"target":"a b"}`, 400, "invalid_body", "target"},
		{"clear of no proxy", "DELETE", "/v1/proxies/crawl/none/cooldowns", "", 404, "unknown_proxy", "there is no proxy crawl/none, "},
		{"renewal of no lease", "POST", "/v1/leases/n%2Fone/renew", "", 404, "unknown_lease", "there is no lease n/one: "},
		{"clear of no host", "DELETE", "/v1/proxies/crawl/demo/cooldowns?target=a/b", "", 400, "invalid_query", "is no host"},
		{"clear of two targets", "DELETE", "/v1/proxies/crawl/demo/cooldowns?target=a&target=b", "", 400, "invalid_query", "target is given 2 times"},
		{"clear by another parameter", "DELETE", "/v1/proxies/crawl/demo/cooldowns?host=a", "", 400, "invalid_query", "target=<host>"},
		{"renew of an unknown lease", "POST", "/v1/leases/none/renew", "", 404, "unknown_lease", "acquire another"},
		{"renew over the maximum", "POST", "/v1/leases/none/renew", `{"ttlSeconds":3601}`, 400, "invalid_ttl", "ttlSeconds"},
		{"report on an unknown lease", "POST", "/v1/leases/none/report", `{"result":"ok"}`, 404, "unknown_lease", "acquire another"},
		{"report without result", "POST", "/v1/leases/none/report", `{}`, 400, "invalid_result", "rate_limited"},
		{"report of another result", "POST", "/v1/leases/none/report", `{"result":"meh"}`, 400, "invalid_result", "rate_limited"},
	}
	w := newWorld(t, proxy("demo"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := w.do(tt.method, tt.path, tt.body)
			message, _ := r.field(t, "message").(string)
			if r.code != tt.code || r.field(t, "error") != tt.word || !strings.Contains(message, tt.says) {
				t.Errorf("got %d %s\nwant %d %s, message with %q", r.code, r.text, tt.code, tt.word, tt.says)
			}
			if r.field(t, "requestID") != r.header.Get("X-Request-Id") || r.header.Get("Content-Type") != "application/json" {
				t.Errorf("header %v, body %s", r.header, r.text)
			}
		})
	}
	if n := w.active(); n != 0 {
		t.Errorf("%d leases came of bad requests", n)
	}
}

func TestContentType(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	for kind, code := range map[string]int{
		"application/json": 201, "application/json; charset=utf-8": 201,
		"application/x-www-form-urlencoded": 415, "text/plain": 415, "json": 415, "": 415,
	} {
		r := w.do("POST", "/v1/leases", `{}`, func(r *http.Request) { r.Header.Set("Content-Type", kind) })
		if r.code != code {
			t.Errorf("%q: %d, want %d", kind, r.code, code)
		}
	}
}

func TestRequestID(t *testing.T) {
	w := newWorld(t)
	send := func(id string) string {
		return w.do("GET", "/healthz", "", func(r *http.Request) { r.Header.Set("X-Request-Id", id) }).header.Get("X-Request-Id")
	}
	if got := send("job-7.retry_1"); got != "job-7.retry_1" {
		t.Errorf("the client's id became %q", got)
	}
	for _, bad := range []string{"", "two words", strings.Repeat("x", 65), "a\x01b"} {
		if got := send(bad); got == bad || got == "" {
			t.Errorf("%q became %q", bad, got)
		}
	}
}
