package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// proxyNamed is one that is never connected to.
func proxyNamed(name string) *clienttest.Proxy {
	return &clienttest.Proxy{
		Namespace: "crawl", Name: name, Scheme: "http", Host: "127.0.0.1", Port: 3128, URL: "http://127.0.0.1:3128",
		Attributes: map[string]string{"region": "local"}, Username: "crawler", Password: "c4nary",
	}
}

// bubble runs a test whose time passes as soon as everybody waits for it.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// connected is a client of api, with the middle of all jitter.
func connected(t *testing.T, api *clienttest.API, edit ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{URL: "http://api.test", HTTPClient: api.Client(t), Jitter: func() float64 { return 0.5 }}
	for _, e := range edit {
		e(&o)
	}
	return must(client.New(o))(t)
}

// must is the value of a call that must not fail.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func closed(t *testing.T, l *client.Lease) {
	t.Helper()
	if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// closedAfter closes l in a while; the test waits for it.
func closedAfter(t *testing.T, d time.Duration, l *client.Lease) {
	var done sync.WaitGroup
	done.Go(func() {
		time.Sleep(d)
		closed(t, l)
	})
	t.Cleanup(done.Wait)
}

func bodies(t *testing.T, asked []clienttest.Asked) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, q := range asked {
		var body map[string]any
		if err := json.Unmarshal([]byte(q.Body), &body); err != nil {
			t.Fatalf("body %q: %v", q.Body, err)
		}
		all = append(all, body)
	}
	return all
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, o := range map[string]client.Options{
		"no URL":         {},
		"no scheme":      {URL: "127.0.0.1:8090"},
		"another scheme": {URL: "ftp://api.test"},
		"two tokens":     {URL: "http://api.test", Token: "a", TokenFile: "b"},
	} {
		if _, err := client.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestErrorsTellTheirClass(t *testing.T) {
	for code, test := range map[string]struct {
		status int
		class  error
	}{
		"lease_expired":     {410, client.ErrExpired},
		"proxy_gone":        {410, client.ErrProxyGone},
		"unknown_lease":     {404, client.ErrUnknownLease},
		"unauthorized":      {401, client.ErrUnauthorized},
		"too_many_failures": {429, client.ErrUnauthorized},
		"forbidden":         {403, client.ErrForbidden},
		"quota_exceeded":    {429, client.ErrQuota},
		"budget_exceeded":   {429, client.ErrBudget},
		"unavailable":       {503, client.ErrUnavailable},
		"stopping":          {503, client.ErrUnavailable},
		"no_leader":         {503, client.ErrUnavailable},
	} {
		bubble(t, code, func(t *testing.T) {
			api := clienttest.New()
			api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Retry-After", "3")
				clienttest.Refuse(w, test.status, code, "what and what to do")
				return true
			}
			c := connected(t, api, func(o *client.Options) { o.Patience = -1 })
			_, err := c.Renew(t.Context(), "x", 0)
			var refusal *client.Error
			if !errors.Is(err, test.class) || !errors.As(err, &refusal) {
				t.Fatalf("error = %v", err)
			}
			want := &client.Error{Status: test.status, Code: code, Message: "what and what to do", RequestID: "request-1", RetryAfter: 3 * time.Second}
			if diff := cmp.Diff(want, refusal); diff != "" {
				t.Errorf("the refusal (-want +got):\n%s", diff)
			}
			if !strings.Contains(err.Error(), "lease x") || !strings.Contains(err.Error(), "what and what to do (request request-1)") {
				t.Errorf("the text does not tell the lease and the remedy: %v", err)
			}
		})
	}
}

func TestWhatIsNoAPIIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New()
		api.Instead = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		_, err := connected(t, api).List(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no API of Fairlead: HTTP 418") {
			t.Errorf("error = %v", err)
		}
	})
}

func TestATokenGoesNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := clienttest.New()
		api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://elsewhere.test/v1/leases", http.StatusTemporaryRedirect)
			return true
		}
		c := connected(t, api, func(o *client.Options) { o.Token = "secret" })
		if _, err := c.List(t.Context()); err == nil || len(api.Asked("")) != 1 {
			t.Errorf("error = %v, asked %v", err, api.Asked(""))
		}
	})
}

func TestNothingThatIsPrintedHasCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := must(connected(t, clienttest.New(proxyNamed("a"))).Acquire(t.Context(), client.Request{}))(t)
		defer closed(t, l)
		if got := l.Proxy().URL().String(); got != "http://crawler:c4nary@127.0.0.1:3128" {
			t.Errorf("URL = %s", got)
		}
		var out strings.Builder
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("lent", "lease", l, "proxy", l.Proxy())
		}
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			_, _ = fmt.Fprintf(&out, format, l.Proxy())
		}
		if !strings.Contains(out.String(), "crawl/a at http://127.0.0.1:3128") || strings.Contains(out.String(), "c4nary") {
			t.Errorf("printed: %s", out.String())
		}
	})
}
