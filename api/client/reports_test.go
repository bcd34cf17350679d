package client_test

import (
	"context"
	"net"
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

// crawl is a lease whose proxy is a handler that answers for every host.
type crawl struct {
	t     *testing.T
	api   *clienttest.API
	lease *client.Lease
	http  *http.Client
}

func newCrawl(t *testing.T, p *clienttest.Proxy, target string, answer http.HandlerFunc, edit ...func(*client.Options)) *crawl {
	t.Helper()
	c := &crawl{t: t, api: clienttest.New(p)}
	c.lease = must(connected(t, c.api, edit...).Acquire(t.Context(), client.Request{Target: target}))(t)
	base := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { _ = http.Serve(&once{conn: there}, answer) }()
		return here, nil
	}}
	c.http = &http.Client{Transport: c.lease.Transport(base)}
	return c
}

// once is a listener with one connection.
type once struct{ conn net.Conn }

func (o *once) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	conn := o.conn
	o.conn = nil
	return conn, nil
}
func (*once) Close() error   { return nil }
func (*once) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (c *crawl) get(addresses ...string) {
	c.t.Helper()
	for _, address := range addresses {
		resp := must(c.http.Get(address))(c.t)
		_ = resp.Body.Close()
		synctest.Wait() // for the report
	}
}

// reported closes the lease and returns what was reported on it.
func (c *crawl) reported() []map[string]any {
	c.t.Helper()
	closed(c.t, c.lease)
	c.http.CloseIdleConnections()
	return bodies(c.t, c.api.Asked("POST /v1/leases/lease-001/report"))
}

// byHost answers with the status that the host's name begins with.
func byHost(w http.ResponseWriter, r *http.Request) {
	switch name, _, _ := strings.Cut(r.Host, "."); strings.ToLower(name) {
	case "banned":
		w.WriteHeader(http.StatusForbidden)
	case "busy":
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	case "dated":
		w.Header().Set("Date", "Tue, 03 Mar 2026 10:00:00 GMT")
		w.Header().Set("Retry-After", "Tue, 03 Mar 2026 10:01:30 GMT")
		w.WriteHeader(http.StatusTooManyRequests)
	case "mute":
		w.Header().Set("Retry-After", "soon")
		w.WriteHeader(http.StatusTooManyRequests)
	case "far":
		w.Header().Set("Retry-After", "99999999999")
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

func TestATransportReports(t *testing.T) {
	trial := proxyNamed("a")
	trial.Trial = true
	for name, test := range map[string]struct {
		proxy  *clienttest.Proxy
		target string
		get    []string
		want   []map[string]any
	}{
		"bans and rate limits, by host": {
			get: []string{"http://BANNED.test.:8080/a", "http://busy.test/", "http://dated.test/", "http://mute.test/", "http://far.test/"},
			want: []map[string]any{
				{"result": "banned", "target": "banned.test"},
				{"result": "rate_limited", "target": "busy.test", "retryAfterSeconds": 30.0},
				{"result": "rate_limited", "target": "dated.test", "retryAfterSeconds": 90.0},
				{"result": "rate_limited", "target": "mute.test"},
				{"result": "rate_limited", "target": "far.test", "retryAfterSeconds": 86400.0},
			},
		},
		"the same of the same host once":        {get: []string{"http://banned.test/1", "http://banned.test/2"}, want: []map[string]any{{"result": "banned", "target": "banned.test"}}},
		"nothing of what goes well":             {get: []string{"http://fine.test/"}},
		"a trial that goes well, once":          {proxy: trial, target: "Fine.test", get: []string{"http://fine.test/", "http://fine.test/"}, want: []map[string]any{{"result": "ok"}}},
		"a trial without target that goes well": {proxy: trial, get: []string{"http://fine.test/"}, want: []map[string]any{{"result": "ok"}}},
		"a trial of another host says nothing":  {proxy: trial, target: "shop.example", get: []string{"http://fine.test/"}},
		"a trial whose target has a port":       {proxy: trial, target: "Fine.test.:443", get: []string{"http://fine.test/"}, want: []map[string]any{{"result": "ok"}}},
		"a trial of an address":                 {proxy: trial, target: "[::1]", get: []string{"http://[::1]:8080/"}, want: []map[string]any{{"result": "ok"}}},
		"a trial that goes well after a rate limit of another host": {
			proxy: trial, target: "fine.test", get: []string{"http://busy.test/", "http://fine.test/", "http://fine.test/"},
			want: []map[string]any{{"result": "rate_limited", "target": "busy.test", "retryAfterSeconds": 30.0}, {"result": "ok"}},
		},
		"a trial without target, after a ban of one host": {
			proxy: trial, get: []string{"http://banned.test/", "http://fine.test/", "http://fine.test/"},
			want: []map[string]any{{"result": "banned", "target": "banned.test"}, {"result": "ok"}},
		},
		"a trial that goes wrong never becomes well": {
			proxy: trial, target: "banned.test", get: []string{"http://banned.test/", "http://banned.test/"},
			want: []map[string]any{{"result": "banned", "target": "banned.test"}},
		},
	} {
		bubble(t, name, func(t *testing.T) {
			p := test.proxy
			if p == nil {
				p = proxyNamed("a")
			}
			c := newCrawl(t, p, test.target, byHost)
			c.get(test.get...)
			if diff := cmp.Diff(test.want, c.reported()); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATrialIsDecidedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trial := proxyNamed("a")
		trial.Trial = true
		c := newCrawl(t, trial, "", byHost)
		c.get("http://fine.test/")
		time.Sleep(time.Minute)
		c.get("http://fine.test/")
		if n := len(c.reported()); n != 1 {
			t.Errorf("%d reports", n)
		}
	})
}

func TestALaterBanIsReportedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t, proxyNamed("a"), "", byHost)
		c.get("http://banned.test/")
		time.Sleep(time.Minute)
		c.get("http://banned.test/")
		if n := len(c.reported()); n != 2 {
			t.Errorf("%d reports", n)
		}
	})
}

// TestABanIsNotLostBehindARateLimit: one report of a target at a time, and the last word
// follows.
func TestABanIsNotLostBehindARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var status []int
		c := newCrawl(t, proxyNamed("a"), "", func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			w.WriteHeader(status[0])
			status = status[1:]
		})
		status = []int{429, 429, 403, 403}
		underWay, most := 0, 0
		c.api.Edit(func() {
			c.api.Instead = func(http.ResponseWriter, *http.Request) bool {
				mu.Lock()
				underWay++
				most = max(most, underWay)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				underWay--
				mu.Unlock()
				return false
			}
		})
		c.get("http://shop.example/", "http://shop.example/", "http://shop.example/", "http://shop.example/")
		want := []map[string]any{{"result": "rate_limited", "target": "shop.example"}, {"result": "banned", "target": "shop.example"}}
		if diff := cmp.Diff(want, c.reported()); diff != "" || most != 1 {
			t.Errorf("%d at a time, reported (-want +got):\n%s", most, diff)
		}
	})
}

func TestCloseWaitsForReports(t *testing.T) {
	for name, test := range map[string]struct {
		takes, within time.Duration
		ok            bool
	}{
		"until they are done":      {takes: 3 * time.Second, within: 5 * time.Second, ok: true},
		"as long as it is allowed": {takes: time.Hour, within: 5 * time.Second},
	} {
		bubble(t, name, func(t *testing.T) {
			c := newCrawl(t, proxyNamed("a"), "", byHost)
			done := false
			c.api.Edit(func() {
				c.api.Instead = func(_ http.ResponseWriter, r *http.Request) bool {
					if !strings.HasSuffix(r.URL.Path, "/report") {
						return false
					}
					select {
					case <-time.After(test.takes):
						done = true
					case <-r.Context().Done():
					}
					return false
				}
			})
			c.get("http://banned.test/")
			ctx, cancel := context.WithTimeout(t.Context(), test.within)
			defer cancel()
			began := time.Now()
			err := c.lease.Close(ctx)
			if took := time.Since(began); (err == nil) != test.ok || took != min(test.takes, test.within) {
				t.Errorf("Close took %s: %v", took, err)
			}
			if done != test.ok {
				t.Errorf("the report was done: %v", done)
			}
			c.reported()
		})
	}
}

func TestClassifyMayBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		captcha := func(o *client.Options) {
			o.Classify = func(r *http.Response) client.Result {
				if r.Request.URL.Path == "/captcha" {
					return client.Banned
				}
				return ""
			}
		}
		c := newCrawl(t, proxyNamed("a"), "", byHost, captcha)
		c.get("http://banned.test/", "http://fine.test/captcha")
		if diff := cmp.Diff([]map[string]any{{"result": "banned", "target": "fine.test"}}, c.reported()); diff != "" {
			t.Errorf("reported (-want +got):\n%s", diff)
		}
	})
}
