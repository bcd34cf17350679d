package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

const ttl = 30 * time.Second

// down makes the API unreachable while it returns true.
func down(is func() bool) func(http.ResponseWriter, *http.Request) bool {
	return func(http.ResponseWriter, *http.Request) bool {
		if is() {
			panic(http.ErrAbortHandler)
		}
		return false
	}
}

func TestALeaseIsRenewedAtAThirdOfItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		time.Sleep(10 * ttl)
		if n := len(api.Asked("POST /v1/leases/lease-001/renew")); n < 30 || n > 34 || l.Err() != nil {
			t.Errorf("%d renewals, %v", n, l.Err())
		}
		if left := time.Until(l.ExpiresAt()); left < ttl/2 || left > ttl-2*time.Second {
			t.Errorf("the lease has %s left", left)
		}
		closed(t, l)
		n := len(api.Asked("POST"))
		time.Sleep(ttl)
		if len(api.Asked("POST")) != n {
			t.Error("it is renewed after Close")
		}
	})
}

func TestRenewalsThatFailAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		began := time.Now()
		api.Instead = down(func() bool { // nearly as long as the lease is good
			since := time.Since(began)
			return since > time.Second && since < 26*time.Second
		})
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		defer closed(t, l)
		time.Sleep(10 * ttl)
		if l.Err() != nil || len(api.Active()) != 1 {
			t.Errorf("the lease ended: %v", l.Err())
		}
	})
}

func TestARenewalThatHangsIsNotTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		renewals := 0
		api.Instead = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/renew") {
				if renewals++; renewals <= 2 {
					<-r.Context().Done()
				}
			}
			return false
		}
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		defer closed(t, l)
		time.Sleep(3 * ttl)
		if l.Err() != nil {
			t.Errorf("the lease ended: %v", l.Err())
		}
	})
}

// TestALeaseEndsByTheClientsOwnClock: before the API may lend the proxy to another.
func TestALeaseEndsByTheClientsOwnClock(t *testing.T) {
	for name, broken := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"the API is gone": down(func() bool { return true }),
		"the API hangs": func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		},
		"the API forgot the token": func(w http.ResponseWriter, _ *http.Request) bool {
			clienttest.Refuse(w, http.StatusUnauthorized, "unauthorized", "no")
			return true
		},
	} {
		bubble(t, name, func(t *testing.T) {
			api := clienttest.New(proxyNamed("a"))
			c := connected(t, api, func(o *client.Options) { o.Patience = -1 })
			began := time.Now()
			l := must(c.Acquire(t.Context(), client.Request{TTL: ttl}))(t)
			api.Edit(func() {
				api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
					return strings.HasSuffix(r.URL.Path, "/renew") && broken(w, r)
				}
			})
			ctx, cancel := l.Context(t.Context())
			defer cancel()
			<-ctx.Done()
			if took := time.Since(began); took > ttl-2*time.Second || took < ttl-4*time.Second {
				t.Errorf("it ended after %s", took)
			}
			if !errors.Is(l.Err(), client.ErrExpired) || !errors.Is(context.Cause(ctx), client.ErrExpired) {
				t.Errorf("it ended with %v, the context with %v", l.Err(), context.Cause(ctx))
			}
			if len(api.Active()) != 1 {
				t.Error("the API ended it before the client")
			}
			closed(t, l)
			if len(api.Active()) != 0 || !errors.Is(l.Err(), client.ErrExpired) {
				t.Errorf("after Close: %v, %v", api.Active(), l.Err())
			}
		})
	}
}

func TestALeaseEndsWhenTheAPISaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*clienttest.API, *clienttest.Proxy)
		want error
	}{
		"its proxy is gone":       {func(api *clienttest.API, p *clienttest.Proxy) { api.Edit(func() { p.Gone = true }) }, client.ErrProxyGone},
		"an operator released it": {func(api *clienttest.API, _ *clienttest.Proxy) { api.Forget("lease-001") }, client.ErrUnknownLease},
		"the API let it run out":  {func(api *clienttest.API, _ *clienttest.Proxy) { api.Expire("lease-001") }, client.ErrExpired},
	} {
		bubble(t, name, func(t *testing.T) {
			p := proxyNamed("a")
			api := clienttest.New(p)
			l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
			defer closed(t, l)
			began := time.Now()
			test.end(api, p)
			<-l.Done()
			if took := time.Since(began); !errors.Is(l.Err(), test.want) || took > ttl/3 {
				t.Errorf("after %s: %v", took, l.Err())
			}
		})
	}
}

func TestALeaseTellsHowItsProxyIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := proxyNamed("a")
		api := clienttest.New(p)
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		defer closed(t, l)
		if !l.ProxyHealthy() || l.ProxyDraining() {
			t.Errorf("at first: healthy %v, draining %v", l.ProxyHealthy(), l.ProxyDraining())
		}
		api.Edit(func() { p.Unhealthy, p.Draining = true, true })
		time.Sleep(ttl / 2)
		if l.ProxyHealthy() || !l.ProxyDraining() || l.Err() != nil {
			t.Errorf("later: healthy %v, draining %v, %v", l.ProxyHealthy(), l.ProxyDraining(), l.Err())
		}
	})
}

// TestALeaseThatWasWaitedForIsRenewedAtOnce: when it began, only the API knows.
func TestALeaseThatWasWaitedForIsRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		c := connected(t, api)
		first := must(c.Acquire(t.Context(), client.Request{}))(t)
		closedAfter(t, 50*time.Second, first)
		l := must(c.Acquire(t.Context(), client.Request{TTL: 20 * time.Second, Wait: time.Minute}))(t)
		defer closed(t, l)
		if n := len(api.Asked("POST /v1/leases/lease-002/renew")); n != 1 {
			t.Errorf("%d renewals", n)
		}
		if left := time.Until(l.ExpiresAt()); left != 18*time.Second || l.Err() != nil {
			t.Errorf("the lease has %s left, %v", left, l.Err())
		}
	})
}

func TestTheSameKeyGetsTheSameLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"), proxyNamed("b"))
		r := client.Request{TTL: ttl, IdempotencyKey: "job-1"}
		first := must(connected(t, api).Acquire(t.Context(), r))(t)
		first.Detach() // its process ended
		time.Sleep(25 * time.Second)
		second := must(connected(t, api).Acquire(t.Context(), r))(t)
		if left := time.Until(second.ExpiresAt()); second.ID() != first.ID() || left != 28*time.Second {
			t.Errorf("lease %s has %s left", second.ID(), left)
		}
		second.Detach()
		time.Sleep(ttl + time.Second)
		if _, err := connected(t, api).Acquire(t.Context(), r); !errors.Is(err, client.ErrExpired) {
			t.Errorf("a lease that is over: %v", err)
		}
	})
}

func TestRenewChangesTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		defer closed(t, l)
		must(l.Renew(t.Context(), 10*ttl))(t)
		if left := time.Until(l.ExpiresAt()); left != 10*ttl-2*time.Second {
			t.Errorf("after a longer one: %s", left)
		}
		must(l.Renew(t.Context(), time.Second))(t)
		if left := time.Until(l.ExpiresAt()); left != 10*ttl-2*time.Second {
			t.Errorf("after a shorter one: %s", left)
		}
	})
}

func TestCloseMayBeCalledByEverybody(t *testing.T) {
	bubble(t, "at the same time and again", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{}))(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { closed(t, l) })
		}
		all.Wait()
		closed(t, l)
		if n := len(api.Asked("DELETE")); n != 1 || !errors.Is(l.Err(), client.ErrReleased) {
			t.Errorf("%d releases, %v", n, l.Err())
		}
	})
	bubble(t, "after one that failed", func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{}))(t)
		api.Edit(func() { api.Instead = down(func() bool { return true }) })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the API is gone: %v", err)
		}
		api.Edit(func() { api.Instead = nil })
		closed(t, l)
		if diff := cmp.Diff([]string{}, api.Active()); diff != "" {
			t.Errorf("active leases (-want +got):\n%s", diff)
		}
	})
}

func TestDetachLeavesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New(proxyNamed("a"))
		l := must(connected(t, api).Acquire(t.Context(), client.Request{TTL: ttl}))(t)
		l.Detach()
		time.Sleep(ttl - time.Second)
		if len(api.Active()) != 1 || len(api.Asked("POST /v1/leases/")) != 0 || !errors.Is(l.Err(), client.ErrReleased) {
			t.Errorf("asked %v, %v", api.Asked(""), l.Err())
		}
	})
}
