package server_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

// keyed sends an Idempotency-Key.
func keyed(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", key) }
}

func single(p *crawl.Proxy) { p.Spec.MaxLeases = 1 }

// acquire asks for a lease, with what came of it.
func (w *world) acquire(body string, edits ...func(*http.Request)) reply {
	w.t.Helper()
	return w.do(http.MethodPost, "/v1/leases", body, edits...)
}

// comes waits for a reply that comes on its own.
func comes(t *testing.T, replies <-chan reply) reply {
	t.Helper()
	select {
	case r := <-replies:
		return r
	case <-time.After(time.Minute):
		t.Fatal("no answer comes")
		return reply{}
	}
}

// waiting asks for a lease that is not there yet.
func (w *world) waiting(body string, edits ...func(*http.Request)) <-chan reply {
	w.t.Helper()
	_, before := w.engine().Totals()
	replies := make(chan reply, 1)
	go func() { replies <- w.acquire(body, edits...) }()
	eventually.Until(w.t, "it waits", func() bool { _, n := w.engine().Totals(); return n == before+1 })
	return replies
}

func TestSeveralLeasesAtOnce(t *testing.T) {
	w := newWorld(t, proxy("a", single, secured), proxy("b", single), authSecret())
	r := w.acquire(`{"count":3}`)
	if r.code != http.StatusConflict || w.active() != 0 {
		t.Errorf("more than there are: %d %s", r.code, r.text)
	}
	r = w.acquire(`{"count":3,"atLeast":2}`)
	var got struct {
		Leases []struct {
			LeaseID string
			Proxy   struct{ Name, Username, Password string }
		}
		Count int
	}
	r.into(t, &got)
	type loan struct{ name, user, password string }
	var loans []loan
	for _, l := range got.Leases {
		loans = append(loans, loan{l.Proxy.Name, l.Proxy.Username, l.Proxy.Password})
	}
	want := []loan{{"a", "robot", "c4nary"}, {"b", "", ""}}
	if diff := cmp.Diff(want, loans, cmp.AllowUnexported(loan{})); diff != "" || r.code != http.StatusCreated || got.Count != 2 {
		t.Errorf("%d, count %d\n%s", r.code, got.Count, diff)
	}
}

func TestASessionComesBackToItsProxy(t *testing.T) {
	w := newWorld(t, proxy("a"), proxy("b"))
	name := func(r reply) any {
		t.Helper()
		p, _ := r.field(t, "proxy").(map[string]any)
		return p["name"]
	}
	first := w.acquire(`{"session":"cart-1"}`)
	if again := w.acquire(`{"session":"cart-1"}`); name(again) != name(first) || again.field(t, "session") != "cart-1" {
		t.Errorf("%s, then %s", first.text, again.text)
	}
	w.edit(fmt.Sprint(name(first)), draining)
	if moved := w.acquire(`{"session":"cart-1"}`); name(moved) == name(first) || moved.field(t, "sessionMoved") != "draining" {
		t.Errorf("%s, then %s", first.text, moved.text)
	}
}

func TestARequestWaits(t *testing.T) {
	t.Run("until a proxy is free", func(t *testing.T) {
		w := newWorld(t, proxy("demo", single))
		id := w.lease(`{}`)
		replies := w.waiting(`{"waitSeconds":60}`)
		w.do(http.MethodDelete, "/v1/leases/"+id, "")
		if r := comes(t, replies); r.code != http.StatusCreated {
			t.Errorf("%d %s", r.code, r.text)
		}
	})
	t.Run("for as long as it said", func(t *testing.T) {
		w := newWorld(t, proxy("demo", single))
		w.lease(`{}`)
		replies := w.waiting(`{"waitSeconds":10}`)
		w.pass(10 * time.Second)
		if r := comes(t, replies); r.code != http.StatusConflict || r.field(t, "atCapacity") != 1.0 {
			t.Errorf("%d %s", r.code, r.text)
		}
	})
	t.Run("until its client goes away", func(t *testing.T) {
		w := newWorld(t, proxy("demo", single))
		id := w.lease(`{}`)
		ctx, cancel := context.WithCancel(t.Context())
		replies := w.waiting(`{"waitSeconds":60}`, func(r *http.Request) { *r = *r.WithContext(ctx) })
		cancel()
		comes(t, replies)
		w.do(http.MethodDelete, "/v1/leases/"+id, "")
		if n := w.active(); n != 0 {
			t.Errorf("nobody has %d leases", n)
		}
		if text := w.do(http.MethodGet, "/metrics", "").text; !contains(text, `lease_requests_total{outcome="cancelled"} 1`) {
			t.Errorf("it is not counted:\n%s", text)
		}
	})
	t.Run("and for the rest of its time after a proxy that is locked", func(t *testing.T) {
		w := newWorld(t, proxy("demo", single, lockedBy("lost")), proxy("open", single, region("us")))
		id := w.lease(`{"selector":{"region":"us"}}`)
		replies := w.waiting(`{"waitSeconds":10}`)
		w.do(http.MethodDelete, "/v1/leases/"+id, "")
		if r := comes(t, replies); r.code != http.StatusCreated {
			t.Errorf("%d %s", r.code, r.text)
		}
	})
	t.Run("until the process ends", func(t *testing.T) {
		w := newWorld(t, proxy("demo", single))
		w.lease(`{}`)
		replies := w.waiting(`{"waitSeconds":60}`)
		w.stop()
		if r := comes(t, replies); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "stopping" || r.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", r.code, r.header, r.text)
		}
		if r := w.acquire(`{}`); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "stopping" {
			t.Errorf("afterwards: %d %s", r.code, r.text)
		}
	})
}

func TestARequestWithAKey(t *testing.T) {
	w := newWorld(t, proxy("demo", single, secured), authSecret())
	first := w.acquire(`{"ttlSeconds":60}`, keyed("k"))
	again := w.acquire(` {"ttlSeconds": 60} `, keyed("k"))
	if diff := cmp.Diff(first.object(t), again.object(t)); diff != "" || again.code != http.StatusCreated {
		t.Errorf("repeated: %d\n%s", again.code, diff)
	}
	if got := [2]string{first.header.Get("Idempotency-Replayed"), again.header.Get("Idempotency-Replayed")}; got != [2]string{"", "true"} {
		t.Errorf("Idempotency-Replayed: %q", got)
	}
	if r := w.acquire(`{"ttlSeconds":61}`, keyed("k")); r.code != http.StatusUnprocessableEntity || r.field(t, "error") != "key_reused" {
		t.Errorf("another body: %d %s", r.code, r.text)
	}
	id, _ := first.field(t, "leaseID").(string)
	replies := w.waiting(`{"waitSeconds":60}`, keyed("another"))
	if r := w.acquire(`{"waitSeconds":60}`, keyed("another")); r.code != http.StatusConflict || r.field(t, "error") != "key_in_use" || r.header.Get("Retry-After") == "" {
		t.Errorf("while it waits: %d %s", r.code, r.text)
	}
	w.do(http.MethodDelete, "/v1/leases/"+id, "")
	comes(t, replies)
	for name, key := range map[string]string{"empty": "", "not ASCII": "é", "too long": string(make([]byte, 256)), "a line break": "a\nb"} {
		if r := w.acquire(`{}`, keyed(key)); r.code != http.StatusBadRequest || r.field(t, "error") != "invalid_key" {
			t.Errorf("%s: %d %s", name, r.code, r.text)
		}
	}
}

func TestAKeyKnowsItsRequestHoweverItIsWritten(t *testing.T) {
	for _, tt := range []struct {
		name, first, again string
		code               int
	}{
		{"an empty selector", `{}`, `{"selector":{}}`, http.StatusCreated},
		{"the lowest priority", `{}`, `{"priority":0}`, http.StatusCreated},
		{"the default time", `{}`, `{"ttlSeconds":300}`, http.StatusCreated},
		{"another selector", `{}`, `{"selector":{"region":"eu"}}`, http.StatusUnprocessableEntity},
		{"another time", `{}`, `{"ttlSeconds":301}`, http.StatusUnprocessableEntity},
		{"a list", `{}`, `{"count":1}`, http.StatusUnprocessableEntity},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, proxy("demo"))
			w.lease(tt.first, keyed("k"))
			if r := w.acquire(tt.again, keyed("k")); r.code != tt.code {
				t.Errorf("%d %s, want %d", r.code, r.text, tt.code)
			}
		})
	}
}

func TestAKeyIsNotSpentOnAProxyThatIsLocked(t *testing.T) {
	w := newWorld(t, proxy("a", lockedBy("lost")), proxy("b"))
	first := w.acquire(`{}`, keyed("k"))
	p, _ := first.field(t, "proxy").(map[string]any)
	if first.code != http.StatusCreated || p["name"] != "b" || first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("%d %v %s", first.code, first.header, first.text)
	}
	if again := w.acquire(`{}`, keyed("k")); again.field(t, "leaseID") != first.field(t, "leaseID") {
		t.Errorf("repeated: %d %s", again.code, again.text)
	}
	if diff := cmp.Diff(map[string]int{"uid-b": 1}, w.counts()); diff != "" {
		t.Error(diff)
	}
}

func TestABudgetIsKept(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	w.budgets(t, "targets: [{target: shop.example, perProxyPerMinute: 1}]")
	w.lease(`{"target":"SHOP.example.:443"}`)
	r := w.acquire(`{"target":"shop.example"}`)
	if seconds, _ := r.field(t, "retryAfterSeconds").(float64); r.code != http.StatusTooManyRequests || r.field(t, "error") != "budget_exceeded" ||
		seconds < 1 || r.header.Get("Retry-After") != fmt.Sprint(seconds) {
		t.Errorf("%d %v %s", r.code, r.header, r.text)
	}
	w.lease(`{"target":"other.example"}`)
}
