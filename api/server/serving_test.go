package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/lease/bolt"
	"example.com/fairlead/api/lease/desk"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/api/server"
	"example.com/fairlead/internal/eventually"
)

type panickingReader struct{ client.Reader }

func (panickingReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	panic("the cache broke")
}

func TestPanicIsA500WithItsRequestID(t *testing.T) {
	w := newWorld(t, proxy("demo", secured))
	w.options.Secrets = panickingReader{w.cluster}
	w.build()
	r := w.do(http.MethodPost, "/v1/leases", `{}`)
	if r.code != http.StatusInternalServerError || r.field(t, "error") != "internal" || strings.Contains(r.text, "cache") {
		t.Errorf("%d %s", r.code, r.text)
	}
	if id := r.header.Get("X-Request-Id"); id == "" || !strings.Contains(w.log.String(), id) {
		t.Errorf("request id %q is not in the log", id)
	}
	if r := w.do(http.MethodGet, "/healthz", ""); r.code != http.StatusOK {
		t.Errorf("after the panic: %d", r.code)
	}
}

func TestLogTellsNothingSecret(t *testing.T) {
	w, _, as := guarded(t, "crawler")
	var token string
	keep := func(r *http.Request) {
		as["crawler"](r)
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	w.lease(`{"target":"b0dy.example"}`, keep)
	w.do(http.MethodGet, "/v1/proxies?attr.token=qu3ry", "", as["crawler"])
	w.do(http.MethodGet, "/v1/leases", "", bearing("str4nger"))
	log := w.log.String()
	for _, secret := range []string{token, "c4nary", "b0dy", "qu3ry", "str4nger"} {
		if secret == "" || strings.Contains(log, secret) {
			t.Errorf("the log tells %q:\n%s", secret, log)
		}
	}
	for _, fact := range []string{`"client":"crawler"`, `"route":"/v1/leases"`, `"status":201`, `"status":401`} {
		if !strings.Contains(log, fact) {
			t.Errorf("the log does not tell %s:\n%s", fact, log)
		}
	}
}

func TestReadyzSaysThatTheLeaseFileIsOpenElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	other, err := bolt.New(path, slog.New(slog.DiscardHandler)).Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := newIdleWorld(t)
	w.options.Desk = desk.New(desk.Options{Place: bolt.New(path, w.options.Log), Log: w.options.Log})
	w.build()
	desktest.Start(t, w.options.Desk)
	ready := func(code int, says string) func() bool {
		return func() bool {
			r := w.do(http.MethodGet, "/readyz", "")
			return r.code == code && strings.Contains(r.text, says) && !strings.Contains(r.text, path)
		}
	}
	eventually.Until(t, "it says who has the file", ready(http.StatusServiceUnavailable, "another fairlead api has the lease file open: stop that one"))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "it is ready", ready(http.StatusOK, "ready"))
	if n := strings.Count(w.log.String(), path); n != 1 {
		t.Errorf("the file is logged %d times:\n%s", n, w.log)
	}
}

func TestReadyz(t *testing.T) {
	w := newIdleWorld(t)
	says := func(code int, message string) {
		t.Helper()
		if r := w.do(http.MethodGet, "/readyz", ""); r.code != code || !strings.Contains(r.text, message) {
			t.Errorf("%d %s, want %d with %q", r.code, r.text, code, message)
		}
	}
	unfilled, err := server.New(server.Options{Desk: w.options.Desk, Secrets: w.cluster, Objects: w.cluster, Workflows: &told{}, Log: w.options.Log})
	if err != nil {
		t.Fatal(err)
	}
	filled := w.handler
	w.handler = unfilled
	says(http.StatusServiceUnavailable, "cache of the objects is not filled")
	w.handler = filled
	says(http.StatusServiceUnavailable, "no process lends now")
	w.place.Take("http://127.0.0.1:1")
	says(http.StatusOK, "ready") // it forwards
	w.place.GiveBack()
	w.place.Fail(errors.New("the disk at /var/leases is full"))
	stop := desktest.Start(t, w.options.Desk)
	eventually.Until(t, "the failure is logged", func() bool { return w.logs("the disk at /var/leases is full") })
	says(http.StatusServiceUnavailable, "leases cannot be kept now: the log of the API tells why")
	w.place.Fail(nil)
	<-w.options.Desk.Opened()
	says(http.StatusOK, "ready")
	stop()
	says(http.StatusServiceUnavailable, "leases cannot be kept now")
	if r := w.do(http.MethodGet, "/healthz", ""); r.code != http.StatusOK {
		t.Errorf("healthz: %d", r.code)
	}
}

func TestMetrics(t *testing.T) {
	w := newWorld(t, proxy("a"), proxy("b"), proxy("sick", unhealthy))
	w.lease(`{}`)
	w.do(http.MethodPost, "/v1/leases", `{"selector":{"region":"us"}}`)
	w.do(http.MethodPost, "/v1/leases", `{"ttlSeconds":0}`)
	text := w.do(http.MethodGet, "/metrics", "").text
	for _, line := range []string{
		`lease_requests_total{outcome="granted"} 1`, `lease_requests_total{outcome="no_match"} 1`,
		`lease_requests_total{outcome="invalid"} 1`, `lease_requests_total{outcome="unavailable"} 0`,
		`proxy_operator_leases_active 1`, `lease_waiting 0`, `lease_wait_seconds_count 1`, `lease_grant_seconds_count 1`, `proxy_operator_proxies{phase="Ready"} 2`, `proxy_operator_proxies{phase="Unhealthy"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	w.pass(time.Hour)
	w.counts() // the engine's time passes with the next request
	if text := w.do(http.MethodGet, "/metrics", "").text; !strings.Contains(text, "proxy_operator_leases_active 0\n") {
		t.Errorf("an expired lease is counted:\n%s", text)
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	complete := newWorld(t).options
	for name, spoil := range map[string]func(*server.Options){
		"no desk":                         func(o *server.Options) { o.Desk = nil },
		"no objects":                      func(o *server.Options) { o.Objects = nil },
		"metrics that are registered":     func(*server.Options) {},
		"a default TTL above the maximum": func(o *server.Options) { o.DefaultLeaseTTL, o.MaxLeaseTTL = 2*time.Hour, time.Hour },
	} {
		o := complete
		if spoil(&o); name != "metrics that are registered" {
			o.Metrics = nil
		}
		if _, err := server.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestServeLetsRequestsFinish(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "done")
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l, handler, newWorld(t).options.Log) }()

	got := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			got <- err.Error()
			return
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		if !resp.Close {
			text = append(text, ", and the connection is kept"...)
		}
		got <- string(text)
	}()
	<-entered
	cancel()
	for { // until it accepts no more
		conn, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	close(leave)
	if text := <-got; text != "done" {
		t.Errorf("the request under way got %q", text)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// TestARequestWaitsLongerThanTheServerDoes: the server's timeouts are for clients that are
// slow, not for those that wait.
func TestARequestWaitsLongerThanTheServerDoes(t *testing.T) {
	const timeout = 100 * time.Millisecond
	w := newWorld(t, proxy("demo", single))
	leader := httptest.NewUnstartedServer(w.handler)
	leader.Config.ReadTimeout, leader.Config.WriteTimeout = timeout, timeout
	leader.Start()
	defer leader.Close()
	f, _ := follower(t, leader.URL, nil)
	s := httptest.NewUnstartedServer(f.handler)
	s.Config.ReadTimeout, s.Config.WriteTimeout = timeout, timeout
	s.Start()
	defer s.Close()
	for name, asked := range map[string]*httptest.Server{"the leader": leader, "another replica": s} {
		t.Run(name, func(t *testing.T) {
			id := w.lease(`{}`)
			replies := make(chan reply, 1)
			begun := time.Now()
			go func() {
				replies <- w.send(asked, http.MethodPost, "/v1/leases", strings.NewReader(`{"waitSeconds":60,"ttlSeconds":1}`), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
			}()
			eventually.Until(t, "the timeouts have passed", func() bool { return time.Since(begun) > 4*timeout })
			w.do(http.MethodDelete, "/v1/leases/"+id, "")
			if r := comes(t, replies); r.code != http.StatusCreated {
				t.Errorf("%d %s", r.code, r.text)
			}
			w.pass(time.Second)
		})
	}
}

func TestServeAnswersBigHeadersItself(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	w := newWorld(t)
	go func() { ended <- server.Serve(ctx, l, w.handler, w.options.Log) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/healthz", bytes.NewReader(nil))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", resp.StatusCode)
	}
}
