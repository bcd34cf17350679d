package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const cooldownsPath = "/v1/proxies/crawl/demo/cooldowns"

func TestAnOperatorRestsAProxy(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	r := w.do(http.MethodPost, cooldownsPath, `{"target":"Shop.Example","seconds":60}`)
	want := map[string]any{"target": "shop.example", "result": "rate_limited", "until": "2026-03-01T12:01:00Z", "strikes": 0.0, "trial": false}
	if diff := cmp.Diff(want, r.object(t)); diff != "" || r.code != http.StatusCreated {
		t.Errorf("%d\n%s", r.code, diff)
	}
	if diff := cmp.Diff([]any{want}, w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").field(t, "cooldowns")); diff != "" {
		t.Error(diff)
	}
	r = w.acquire(`{"target":"shop.example"}`)
	if r.code != http.StatusConflict || r.field(t, "inCooldown") != 1.0 || r.field(t, "retryAfterSeconds") != 60.0 || r.header.Get("Retry-After") != "60" {
		t.Errorf("%d %v %s", r.code, r.header, r.text)
	}
	w.lease(`{"target":"other.example"}`)
	w.pass(time.Minute)
	w.lease(`{"target":"shop.example"}`)
}

func TestAnOperatorEndsCooldowns(t *testing.T) {
	for name, tt := range map[string]struct {
		query string
		left  []any
	}{
		"of one target":              {"?target=A.example", []any{"", "b.example"}},
		"of leases without a target": {"?target=", []any{"a.example", "b.example"}},
		"of a target without any":    {"?target=c.example", []any{"", "a.example", "b.example"}},
		"of all targets":             {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, proxy("demo"))
			for _, body := range []string{`{"seconds":60}`, `{"target":"a.example","seconds":70}`, `{"target":"b.example","seconds":80}`} {
				w.do(http.MethodPost, cooldownsPath, body)
			}
			if r := w.do(http.MethodDelete, cooldownsPath+tt.query, ""); r.code != http.StatusNoContent || r.text != "" {
				t.Errorf("%d %s", r.code, r.text)
			}
			cooldowns, _ := w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").field(t, "cooldowns").([]any)
			var left []any
			for _, c := range cooldowns {
				left = append(left, c.(map[string]any)["target"])
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABanEndsInATrial(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	report := func(id, result string) {
		t.Helper()
		if r := w.do(http.MethodPost, "/v1/leases/"+id+"/report", `{"result":"`+result+`"}`); r.code != http.StatusNoContent {
			t.Fatalf("%d %s", r.code, r.text)
		}
	}
	report(w.lease(`{"target":"shop.example"}`), "banned")
	w.pass(10 * time.Minute)
	trial := w.acquire(`{"target":"shop.example"}`)
	if trial.code != http.StatusCreated || trial.field(t, "trial") != true {
		t.Fatalf("%d %s", trial.code, trial.text)
	}
	if r := w.acquire(`{"target":"shop.example"}`); r.code != http.StatusConflict {
		t.Errorf("beside the trial: %d %s", r.code, r.text)
	}
	id, _ := trial.field(t, "leaseID").(string)
	report(id, "ok")
	w.lease(`{"target":"shop.example"}`)
}

func TestARateLimitLastsAsLongAsTheTargetSays(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	id := w.lease(`{"target":"shop.example"}`)
	w.do(http.MethodPost, "/v1/leases/"+id+"/report", `{"result":"rate_limited","retryAfterSeconds":120}`)
	w.pass(119 * time.Second)
	if r := w.acquire(`{"target":"shop.example"}`); r.code != http.StatusConflict || r.field(t, "retryAfterSeconds") != 1.0 {
		t.Errorf("%d %s", r.code, r.text)
	}
	w.pass(time.Second)
	w.lease(`{"target":"shop.example"}`)
}
