package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/server"
	"example.com/fairlead/internal/eventually"
)

// follower is a replica that takes leader for the one that leads.
func follower(t *testing.T, leader string, tokens *server.Tokens) (*world, *httptest.Server) {
	t.Helper()
	w := newIdleWorld(t, proxy("demo", secured), authSecret())
	w.place.Take(leader)
	w.options.Tokens = tokens
	w.build()
	s := httptest.NewServer(w.handler)
	t.Cleanup(s.Close)
	return w, s
}

func TestTheLeaderAnswersForAll(t *testing.T) {
	w, path, as := guarded(t, "crawler", "operator")
	leader := httptest.NewServer(w.handler)
	defer leader.Close()
	f, s := follower(t, leader.URL, w.openTokens(path))
	asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
	ask := func(method, path, body string, edits ...func(*http.Request)) reply {
		t.Helper()
		return f.over(s, method, path, strings.NewReader(body), append(edits, asJSON)...)
	}

	r := ask("POST", "/v1/leases", `{"target":"shop.example"}`, as["crawler"], func(r *http.Request) { r.Header.Set("X-Request-Id", "job-7") })
	p, _ := r.field(t, "proxy").(map[string]any)
	if r.code != http.StatusCreated || p["password"] != "c4nary" {
		t.Fatalf("%d %s", r.code, r.text)
	}
	if diff := cmp.Diff([]string{"job-7"}, r.header["X-Request-Id"]); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(w.log.String(), `"requestID":"job-7"`) || !strings.Contains(f.log.String(), `"requestID":"job-7"`) {
		t.Error("the request has another id in one of the logs")
	}
	id, _ := r.field(t, "leaseID").(string)
	for _, tt := range []struct {
		method, path, body, who string
		code                    int
	}{
		{"GET", "/v1/leases", "", "crawler", 200},
		{"HEAD", "/v1/leases", "", "crawler", 200},
		{"GET", "/v1/proxies?healthy=true", "", "crawler", 200},
		{"GET", "/v1/proxies/crawl/demo", "", "crawler", 200},
		{"GET", "/v1/proxies/crawl/none", "", "crawler", 404},
		{"POST", "/v1/proxies/crawl/demo/cooldowns", `{"seconds":1}`, "operator", 201},
		{"POST", "/v1/proxies/crawl/demo/cooldowns", `{"seconds":1}`, "crawler", 403},
		{"DELETE", "/v1/proxies/crawl/demo/cooldowns", "", "operator", 204},
		{"POST", "/v1/leases/" + id + "/renew", "", "crawler", 200},
		{"POST", "/v1/leases/" + id + "/renew", "", "nobody", 401},
		{"POST", "/v1/leases/" + id + "/report", `{"result":"ok"}`, "crawler", 204},
		{"POST", "/v1/leases/" + id + "/report", `{"result":"meh"}`, "crawler", 400},
		{"DELETE", "/v1/leases/" + id, "", "crawler", 204},
	} {
		edit := as[tt.who]
		if edit == nil {
			edit = func(*http.Request) {}
		}
		if r := ask(tt.method, tt.path, tt.body, edit); r.code != tt.code {
			t.Errorf("%s %s by %s: %d %s, want %d", tt.method, tt.path, tt.who, r.code, r.text, tt.code)
		}
	}
	if n := w.active(); n != 0 {
		t.Errorf("%d leases left", n)
	}
	if strings.Contains(f.log.String()+w.log.String(), "c4nary") {
		t.Error("a log tells a password")
	}
	t.Run("but for what needs no leases", func(t *testing.T) {
		leader.Close()
		for _, path := range []string{"/healthz", "/readyz", "/openapi.yaml", "/metrics"} {
			if r := f.over(s, "GET", path, nil, as["operator"]); r.code != http.StatusOK {
				t.Errorf("%s: %d %s", path, r.code, r.text)
			}
		}
		if r := f.over(s, "GET", "/metrics", nil, as["operator"]); strings.Contains(r.text, "proxy_operator_leases_active") {
			t.Error("a replica that does not lend counts leases")
		}
		if r := f.over(s, "POST", "/v1/proxies/crawl/demo/replace", nil, as["operator"]); r.code != http.StatusAccepted {
			t.Errorf("replace: %d %s", r.code, r.text)
		}
	})
	t.Run("and nothing was done when it cannot be reached", func(t *testing.T) {
		if r := ask("POST", "/v1/leases", `{}`, as["crawler"]); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "no_leader" || r.header.Get("Retry-After") != "1" {
			t.Errorf("%d %v %s", r.code, r.header, r.text)
		}
	})
}

func TestWhatWasForwardedIsNotForwardedAgain(t *testing.T) {
	w, s := follower(t, "http://127.0.0.1:1", nil)
	w.place.GiveBack()
	w.place.Take(s.URL) // it takes itself for the leader, but does not lead
	for name, edit := range map[string]func(*http.Request){
		"by another": func(r *http.Request) { r.Header.Set("X-Fairlead-Forwarded", "1") },
		"by itself":  func(*http.Request) {},
	} {
		if r := w.over(s, "GET", "/v1/leases", nil, edit); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "no_leader" || r.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v %s", name, r.code, r.header, r.text)
		}
	}
}

// lostLeader is one that reads whole requests, and goes away instead of answering all but
// the first of each connection.
type lostLeader struct {
	mu   sync.Mutex
	seen []string
}

func (l *lostLeader) serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.talk(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

func (l *lostLeader) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for first := true; ; first = false {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		l.mu.Lock()
		l.seen = append(l.seen, r.Method+" "+r.URL.Path)
		l.mu.Unlock()
		if !first {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
	}
}

func (l *lostLeader) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.seen...)
}

// TestAForwardedRequestIsSentOnce: net/http sends requests again that it takes for
// harmless, on a connection that was used before.
func TestAForwardedRequestIsSentOnce(t *testing.T) {
	for _, tt := range []struct {
		method, path, body string
	}{
		{"POST", "/v1/leases", `{}`},
		{"GET", "/v1/leases", ""},
		{"GET", "/v1/proxies/crawl/demo", ""},
		{"DELETE", "/v1/leases/some", ""},
		{"POST", "/v1/leases/some/renew", ""},
		{"POST", "/v1/leases/some/report", `{"result":"ok"}`},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			leader := &lostLeader{}
			w, s := follower(t, leader.serve(t), nil)
			ask := func() reply {
				var body io.Reader
				if tt.body != "" {
					body = strings.NewReader(tt.body)
				}
				return w.send(s, tt.method, tt.path, body, keyed("k"), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
			}
			if r := ask(); r.code != http.StatusNoContent {
				t.Fatalf("the first: %d %s", r.code, r.text)
			}
			if r := ask(); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "leader_lost" || r.header.Get("Retry-After") == "" {
				t.Errorf("%d %v %s", r.code, r.header, r.text)
			}
			want := []string{tt.method + " " + tt.path, tt.method + " " + tt.path}
			if diff := cmp.Diff(want, leader.requests()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAForwardedRequestWaits(t *testing.T) {
	w := newWorld(t, proxy("demo", single))
	leader := httptest.NewServer(w.handler)
	defer leader.Close()
	f, s := follower(t, leader.URL, nil)
	w.lease(`{}`)
	replies := make(chan reply, 1)
	go func() {
		replies <- f.over(s, "POST", "/v1/leases", strings.NewReader(`{"waitSeconds":60}`), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	}()
	eventually.Until(t, "it waits", func() bool { _, n := w.engine().Totals(); return n == 1 })
	w.pass(time.Minute)
	if r := comes(t, replies); r.code != http.StatusConflict {
		t.Errorf("%d %s", r.code, r.text)
	}
}

func TestNobodyLeads(t *testing.T) {
	w := newIdleWorld(t, proxy("demo"))
	for _, path := range []string{"/v1/leases", "/v1/proxies", "/v1/proxies/crawl/demo"} {
		if r := w.do("GET", path, ""); r.code != http.StatusServiceUnavailable || r.field(t, "error") != "no_leader" || r.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v %s", path, r.code, r.header, r.text)
		}
	}
}
