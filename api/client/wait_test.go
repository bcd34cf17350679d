package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

func TestALongWaitIsMadeOfSeveralRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		c := connected(t, api)
		first := must(c.Acquire(t.Context(), client.Request{}))(t)
		began := time.Now()
		_, err := c.Acquire(t.Context(), client.Request{Wait: 150 * time.Second})
		var none *client.NoMatch
		if took := time.Since(began); !errors.As(err, &none) || took < 150*time.Second || took > 151*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		for _, body := range bodies(t, api.Asked("POST /v1/leases"))[1:] {
			if _, renewal := body["waitSeconds"]; renewal && body["waitSeconds"] != 50.0 {
				t.Errorf("asked to wait %v", body["waitSeconds"])
			}
		}
		closedAfter(t, 100*time.Second, first)
		began = time.Now()
		l := must(c.Acquire(t.Context(), client.Request{Wait: 150 * time.Second}))(t)
		defer closed(t, l)
		if took := time.Since(began); took < 100*time.Second || took > 101*time.Second {
			t.Errorf("granted after %s", took)
		}
	})
}

func TestABudgetIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		until := time.Now().Add(8 * time.Second)
		api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v1/leases" || !time.Now().Before(until) {
				return false
			}
			w.Header().Set("Retry-After", "8")
			clienttest.Refuse(w, http.StatusTooManyRequests, "budget_exceeded", "it is spent")
			return true
		}
		c := connected(t, api)
		if _, err := c.Acquire(t.Context(), client.Request{Wait: 5 * time.Second}); !errors.Is(err, client.ErrBudget) {
			t.Errorf("a wait that is too short: %v", err)
		}
		closed(t, must(c.Acquire(t.Context(), client.Request{Wait: 20 * time.Second}))(t))
		if time.Now().Before(until) {
			t.Error("it was granted too soon")
		}
	})
}

func TestWhoStopsAskingHasNoLease(t *testing.T) {
	bubble(t, "while the request waits it is cut at once", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		c := connected(t, api)
		first := must(c.Acquire(t.Context(), client.Request{}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		began := time.Now()
		_, err := c.Acquire(ctx, client.Request{Wait: time.Minute})
		if !errors.Is(err, context.Canceled) || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		synctest.Wait()
		closed(t, first)
		if diff := cmp.Diff([]string{}, api.Active()); diff != "" {
			t.Errorf("active leases (-want +got):\n%s", diff)
		}
	})
	bubble(t, "a lease granted in that moment is given back", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		ctx, cancel := context.WithCancel(t.Context())
		api.Lose = func(r *http.Request) bool { // it was granted, and the answer is under way
			if r.URL.Path == "/v1/leases" {
				cancel()
				time.Sleep(300 * time.Millisecond)
			}
			return false
		}
		if _, err := connected(t, api).Acquire(ctx, client.Request{Wait: time.Minute}); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		if len(api.Asked("DELETE /v1/leases/lease-001")) != 1 {
			t.Errorf("asked %v", api.Asked(""))
		}
	})
	bubble(t, "an answer that has begun is read to its end", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		ctx, cancel := context.WithCancel(t.Context())
		api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v1/leases" {
				return false
			}
			time.Sleep(10 * time.Second)
			w.WriteHeader(http.StatusCreated)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			cancel()
			time.Sleep(time.Second)
			_, _ = w.Write([]byte(`{"leaseID":"lease-001","ttlSeconds":60,"proxy":{}}`))
			return true
		}
		if _, err := connected(t, api).Acquire(ctx, client.Request{Wait: time.Minute}); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		if len(api.Asked("DELETE /v1/leases/lease-001")) != 1 {
			t.Errorf("asked %v", api.Asked(""))
		}
	})
	bubble(t, "a context that ended asks nothing", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := connected(t, api).Acquire(ctx, client.Request{}); !errors.Is(err, context.Canceled) || len(api.Asked("")) != 0 {
			t.Errorf("error = %v, asked %v", err, api.Asked(""))
		}
	})
}
