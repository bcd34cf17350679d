package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListProxies(t *testing.T) {
	w := newWorld(t, proxy("b"), proxy("a", secured), proxy("sick", unhealthy), proxy("far", region("us")), authSecret())
	w.lease(`{"selector":{"region":"us"}}`)
	for query, want := range map[string][]string{
		"":                                     {"a", "b", "far", "sick"},
		"?healthy=true":                        {"a", "b", "far"},
		"?healthy=false":                       {"sick"},
		"?attr.region=eu":                      {"a", "b", "sick"},
		"?attr.region=eu&healthy=true":         {"a", "b"},
		"?attr.region=eu&attr.kind=datacenter": nil,
	} {
		var got struct {
			Proxies []struct{ Name string }
			Count   int
		}
		r := w.do(http.MethodGet, "/v1/proxies"+query, "")
		r.into(t, &got)
		var names []string
		for _, p := range got.Proxies {
			names = append(names, p.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" || got.Count != len(want) || r.code != http.StatusOK {
			t.Errorf("%s: %d, count %d\n%s", query, r.code, got.Count, diff)
		}
		if strings.Contains(r.text, "c4nary") {
			t.Errorf("%s tells a password", query)
		}
	}
	if r := newWorld(t).do(http.MethodGet, "/v1/proxies", ""); strings.TrimSpace(r.text) != `{"proxies":[],"count":0}` {
		t.Errorf("empty list: %s", r.text)
	}
}

func TestGetProxy(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	w.lease(`{}`)
	var got map[string]any
	w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").into(t, &got)
	want := map[string]any{
		"namespace": "crawl", "name": "demo", "mode": "Managed", "provider": "local", "phase": "Ready", "reason": "Ready",
		"healthy": true, "lendable": true, "scheme": "http", "host": "127.64.0.1", "port": 3128.0,
		"attributes": map[string]any{"region": "eu"}, "latencyMillis": 7.0, "exitIP": "127.64.0.1",
		"activeLeases": 1.0, "maxLeases": 2.0, "cooldowns": []any{}, "bans": 0.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProxiesAreNotShownWithoutTheirLeases(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	w.place.Fail(errors.New("the disk is full"))
	for _, path := range []string{"/v1/proxies", "/v1/proxies/crawl/demo"} {
		if r := w.do(http.MethodGet, path, ""); r.code != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s", path, r.code, r.header, r.text)
		}
	}
}
