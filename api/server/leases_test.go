package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

func TestAcquire(t *testing.T) {
	t.Run("the answer has what a client needs to connect", func(t *testing.T) {
		w := newWorld(t, proxy("demo", secured), authSecret())
		r := w.do(http.MethodPost, "/v1/leases", `{"selector":{"region":"eu"},"ttlSeconds":90,"target":"Shop.Example"}`)
		var got map[string]any
		r.into(t, &got)
		if got["leaseID"] == "" {
			t.Errorf("no leaseID: %s", r.text)
		}
		delete(got, "leaseID")
		want := map[string]any{
			"expiresAt": "2026-03-01T12:01:30Z", "ttlSeconds": 90.0,
			"proxy": map[string]any{
				"namespace": "crawl", "name": "demo", "scheme": "http", "host": "127.64.0.1", "port": 3128.0,
				"url": "http://127.64.0.1:3128", "attributes": map[string]any{"region": "eu"},
				"username": "robot", "password": "c4nary",
			},
		}
		if diff := cmp.Diff(want, got); diff != "" || r.code != http.StatusCreated {
			t.Errorf("%d\n%s", r.code, diff)
		}
	})
	t.Run("a proxy without credentials is answered without", func(t *testing.T) {
		w := newWorld(t, proxy("demo"))
		r := w.do(http.MethodPost, "/v1/leases", `{}`)
		if r.code != http.StatusCreated || strings.Contains(r.text, "username") {
			t.Errorf("%d %s", r.code, r.text)
		}
		if ttl := r.field(t, "ttlSeconds"); ttl != 300.0 {
			t.Errorf("default ttlSeconds %v", ttl)
		}
	})
	t.Run("a refusal counts what there is", func(t *testing.T) {
		w := newWorld(t, proxy("full", func(p *crawl.Proxy) { p.Spec.MaxLeases = 1 }), proxy("sick", unhealthy),
			proxy("draining", func(p *crawl.Proxy) { p.Status.Phase = crawl.PhaseDraining }), proxy("far", region("us")))
		w.lease(`{"selector":{"region":"eu"}}`)
		r := w.do(http.MethodPost, "/v1/leases", `{"selector":{"region":"eu"}}`)
		var got map[string]any
		r.into(t, &got)
		delete(got, "message")
		delete(got, "requestID")
		delete(got, "retryAfterSeconds")
		want := map[string]any{"error": "no_match", "considered": 3.0, "atCapacity": 1.0, "inCooldown": 0.0, "unhealthy": 1.0, "draining": 1.0, "unusable": 0.0}
		if diff := cmp.Diff(want, got); diff != "" || r.code != http.StatusConflict {
			t.Errorf("%d\n%s", r.code, diff)
		}
	})
}

func TestLeaseEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(w *world, id string)
		code int
		word string
	}{
		{"released", func(w *world, id string) {
			for range 2 {
				if r := w.do(http.MethodDelete, "/v1/leases/"+id, ""); r.code != http.StatusNoContent || r.text != "" {
					w.t.Errorf("release: %d %s", r.code, r.text)
				}
			}
		}, http.StatusNotFound, "unknown_lease"},
		{"expired", func(w *world, _ string) { w.pass(5 * time.Minute) }, http.StatusGone, "lease_expired"},
		{"its proxy was deleted", func(w *world, _ string) {
			w.events.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "crawl/demo", Obj: w.stored("demo")})
		}, http.StatusGone, "proxy_gone"},
		{"its proxy is being deleted", func(w *world, _ string) {
			p := w.stored("demo")
			p.DeletionTimestamp = &metav1.Time{Time: start}
			w.events.handler.OnUpdate(nil, p)
		}, http.StatusGone, "proxy_gone"},
		{"its proxy was made anew, and nobody saw it go", func(w *world, _ string) {
			w.events.handler.OnUpdate(nil, proxy("demo", func(p *crawl.Proxy) { p.UID = "uid-new" }))
		}, http.StatusGone, "proxy_gone"},
		{"its proxy has another address", func(w *world, _ string) {
			w.edit("demo", func(p *crawl.Proxy) { p.Status.IP = "127.64.0.2" })
		}, http.StatusGone, "proxy_gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, proxy("demo"))
			id := w.lease(`{}`)
			tt.end(w, id)
			r := w.do(http.MethodPost, "/v1/leases/"+id+"/renew", "")
			if r.code != tt.code || r.field(t, "error") != tt.word {
				t.Errorf("renew: %d %s; want %d %s", r.code, r.text, tt.code, tt.word)
			}
			if count := w.do(http.MethodGet, "/v1/leases", "").field(t, "count"); count != 0.0 {
				t.Errorf("%v leases listed", count)
			}
		})
	}
}

func TestRenew(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	id := w.lease(`{"ttlSeconds":60}`)
	w.pass(30 * time.Second)
	for _, tt := range []struct {
		body, expires string
		ttl           float64
	}{{"", "2026-03-01T12:01:30Z", 60}, {`{"ttlSeconds":600}`, "2026-03-01T12:10:30Z", 600}} {
		var got map[string]any
		w.do(http.MethodPost, "/v1/leases/"+id+"/renew", tt.body).into(t, &got)
		want := map[string]any{"leaseID": id, "expiresAt": tt.expires, "ttlSeconds": tt.ttl, "proxyHealthy": true, "proxyDraining": false}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	w.edit("demo", unhealthy)
	if r := w.do(http.MethodPost, "/v1/leases/"+id+"/renew", ""); r.code != http.StatusOK || r.field(t, "proxyHealthy") != false {
		t.Errorf("renew on an unhealthy proxy: %d %s", r.code, r.text)
	}
}

func TestReport(t *testing.T) {
	for _, result := range []string{"rate_limited", "banned"} {
		w := newWorld(t, proxy("demo"))
		id := w.lease(`{"target":"shop.example"}`)
		if r := w.do(http.MethodPost, "/v1/leases/"+id+"/report", `{"result":"`+result+`"}`); r.code != http.StatusNoContent {
			t.Fatalf("report: %d %s", r.code, r.text)
		}
		r := w.do(http.MethodPost, "/v1/leases", `{"target":"SHOP.example"}`)
		if r.code != http.StatusConflict || r.field(t, "inCooldown") != 1.0 {
			t.Errorf("%s: %d %s", result, r.code, r.text)
		}
		w.lease(`{"target":"other.example"}`)
	}
}

func TestListLeases(t *testing.T) {
	w := newWorld(t, proxy("demo", secured), authSecret())
	id := w.lease(`{"target":"shop.example","ttlSeconds":60}`)
	var got map[string]any
	r := w.do(http.MethodGet, "/v1/leases", "")
	r.into(t, &got)
	want := map[string]any{"count": 1.0, "leases": []any{map[string]any{
		"leaseID": id, "client": "anonymous", "target": "shop.example", "ttlSeconds": 60.0,
		"grantedAt": "2026-03-01T12:00:00Z", "expiresAt": "2026-03-01T12:01:00Z",
		"proxy": map[string]any{
			"namespace": "crawl", "name": "demo", "scheme": "http", "host": "127.64.0.1", "port": 3128.0,
			"url": "http://127.64.0.1:3128", "attributes": map[string]any{"region": "eu"},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
