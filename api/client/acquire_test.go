package client_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

func TestARequestIsSentAsItIsMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{
			Selector: map[string]string{"region": "local"}, Target: "shop.example", TTL: 90*time.Second + 1, Exclusive: true,
			Session: "s", Wait: 1500 * time.Millisecond, Priority: 3, IdempotencyKey: "mine",
		}))(t)
		defer closed(t, l)
		asked := api.Asked("POST /v1/leases")
		want := []map[string]any{{
			"selector": map[string]any{"region": "local"}, "target": "shop.example", "ttlSeconds": 91.0, "exclusive": true,
			"session": "s", "waitSeconds": 2.0, "priority": 3.0,
		}}
		if diff := cmp.Diff(want, bodies(t, asked)); diff != "" || asked[0].Key != "mine" {
			t.Errorf("key %q, bodies (-want +got):\n%s", asked[0].Key, diff)
		}
		g := l.Grant()
		if l.ID() != "lease-001" || g.TTLSeconds != 91 || g.Session != "s" || !g.Exclusive || l.Proxy().Password != "c4nary" {
			t.Errorf("granted %+v", g)
		}
	})
}

func TestALostReplyCostsNoLease(t *testing.T) {
	for name, trouble := range map[string]func(*clienttest.API) int32{
		"the attempt that broke waits there still": func(api *clienttest.API) int32 {
			var n atomic.Int32
			api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
				switch n.Add(1) {
				case 1:
					panic(http.ErrAbortHandler)
				case 2:
					clienttest.Refuse(w, http.StatusConflict, "key_in_use", "a request with the same key waits")
					return true
				}
				return false
			}
			return 3
		},
		"the connection breaks after the grant": func(api *clienttest.API) int32 {
			var n atomic.Int32
			api.Lose = func(r *http.Request) bool { return r.URL.Path == "/v1/leases" && n.Add(1) <= 2 }
			return 3
		},
		"the API asks to come back": func(api *clienttest.API) int32 {
			var n atomic.Int32
			api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
				if n.Add(1) > 3 {
					return false
				}
				w.Header().Set("Retry-After", "2")
				clienttest.Refuse(w, http.StatusServiceUnavailable, "no_leader", "come back")
				return true
			}
			return 4
		},
	} {
		bubble(t, name, func(t *testing.T) {
			api := clienttest.New(proxyNamed("a"), proxyNamed("b"))
			want := trouble(api)
			l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: time.Minute}))(t)
			defer closed(t, l)
			keys := map[string]bool{}
			asked := api.Asked("POST /v1/leases")
			for _, q := range asked {
				if q.Path == "/v1/leases" {
					want--
					keys[q.Key] = true
				}
			}
			if want != 0 || len(keys) != 1 || keys[""] {
				t.Errorf("asked %v", asked)
			}
			if diff := cmp.Diff([]string{l.ID()}, api.Active()); diff != "" {
				t.Errorf("active leases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAKeyThatAnotherUsesIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		c := connected(t, api)
		defer closed(t, must(c.Acquire(t.Context(), client.Request{}))(t))
		ctx, cancel := context.WithCancel(t.Context())
		var other sync.WaitGroup
		other.Go(func() { _, _ = c.Acquire(ctx, client.Request{IdempotencyKey: "mine", Wait: time.Minute}) })
		defer other.Wait()
		defer cancel()
		synctest.Wait()
		began := time.Now()
		var refusal *client.Error
		if _, err := c.Acquire(t.Context(), client.Request{IdempotencyKey: "mine", Wait: time.Minute}); !errors.As(err, &refusal) || refusal.Code != "key_in_use" || !time.Now().Equal(began) {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestTheAPISaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New()
		began := time.Now()
		api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "20")
			if time.Since(began) < 20*time.Second {
				clienttest.Refuse(w, http.StatusServiceUnavailable, "no_leader", "come back")
				return true
			}
			return false
		}
		must(connected(t, api).List(t.Context()))(t)
		if n := len(api.Asked("GET")); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New()
		api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
			clienttest.Refuse(w, http.StatusServiceUnavailable, "unavailable", "no")
			return true
		}
		began := time.Now()
		patient := func(o *client.Options) {
			o.Patience = 20 * time.Second
			o.Retrying = func(err error, _ time.Duration, until time.Time) {
				if !errors.Is(err, client.ErrUnavailable) || until.Sub(began) != o.Patience {
					t.Errorf("it is told of %v, until %s after the first attempt", err, until.Sub(began))
				}
			}
		}
		_, err := connected(t, api, patient).Acquire(t.Context(), client.Request{})
		if took := time.Since(began); !errors.Is(err, client.ErrUnavailable) || took != 20*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began = time.Now()
		_, err = connected(t, api).Acquire(ctx, client.Request{})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrUnavailable) || time.Since(began) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestNoMatchHasTheCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		c := connected(t, api)
		defer closed(t, must(c.Acquire(t.Context(), client.Request{}))(t))
		_, err := c.Acquire(t.Context(), client.Request{})
		var none *client.NoMatch
		var refusal *client.Error
		if !errors.As(err, &none) || !errors.As(err, &refusal) || refusal.Status != http.StatusConflict {
			t.Fatalf("error = %v", err)
		}
		got := [...]int{none.Considered, none.AtCapacity, none.InCooldown, none.Unhealthy, none.Draining, none.Unusable}
		if got != [...]int{1, 1, 0, 0, 0, 0} || none.RetryAfter != 7*time.Second {
			t.Errorf("%+v", none)
		}
	})
}

func TestManyLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"), proxyNamed("b"), proxyNamed("c"))
		c := connected(t, api)
		leases := must(c.AcquireMany(t.Context(), client.Request{}, 2, 0))(t)
		leases = append(leases, must(c.AcquireMany(t.Context(), client.Request{}, 2, 1))(t)...)
		if diff := cmp.Diff([]map[string]any{{"count": 2.0}, {"count": 2.0, "atLeast": 1.0}}, bodies(t, api.Asked("POST /v1/leases"))); diff != "" || len(leases) != 3 {
			t.Errorf("%d leases, asked (-want +got):\n%s", len(leases), diff)
		}
		var none *client.NoMatch
		if _, err := c.AcquireMany(t.Context(), client.Request{}, 2, 0); !errors.As(err, &none) {
			t.Errorf("a fourth lease: %v", err)
		}
		if _, err := c.AcquireMany(t.Context(), client.Request{}, 0, 0); err == nil {
			t.Error("none were asked for, without an error")
		}
		for _, l := range leases {
			closed(t, l)
		}
		if diff := cmp.Diff([]string{}, api.Active()); diff != "" {
			t.Errorf("active leases (-want +got):\n%s", diff)
		}
	})
}

func TestTheTokenFileIsReadForEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		file := filepath.Join(t.TempDir(), "token")
		c := connected(t, api, func(o *client.Options) { o.TokenFile = file })
		if _, err := c.List(t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without the file: %v", err)
		}
		for _, token := range []string{"first", "second"} {
			if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			api.Edit(func() { api.Token = token })
			must(c.List(t.Context()))(t)
		}
	})
}

func TestListHasNoCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connected(t, clienttest.New(proxyNamed("a")))
		l := must(c.Acquire(t.Context(), client.Request{Target: "shop.example"}))(t)
		defer closed(t, l)
		list := must(c.List(t.Context()))(t)
		if len(list) != 1 || list[0].LeaseID != l.ID() || list[0].Target != "shop.example" || list[0].Client != "tester" || list[0].Proxy.Password != "" {
			t.Errorf("listed %+v", list)
		}
	})
}
