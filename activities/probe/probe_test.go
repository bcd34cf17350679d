package probe_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/probe"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

func TestProbe(t *testing.T) {
	proxy := endpoint(t, startForward(t).URL)
	plain := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(secure.Close)
	nobody := "http://" + freeAddress(t)

	tests := []struct {
		name  string
		check func(*crawl.HealthCheck)
		want  probe.Verdict
		exit  string
		says  string
	}{
		{"an answer as expected is healthy and tells the exit", func(*crawl.HealthCheck) {}, probe.Healthy, "127.0.0.1", ""},
		{"an https target is reached by CONNECT", func(h *crawl.HealthCheck) { h.URL = secure.URL }, probe.Healthy, "127.0.0.1", ""},
		{"a redirect is an answer, not a way to go", func(h *crawl.HealthCheck) { h.URL += "/status/302" }, probe.Dead, "", "answered 302"},
		{"a redirect may be the expected answer", func(h *crawl.HealthCheck) { h.URL += "/status/302"; h.ExpectedStatus = 302 }, probe.Healthy, "", ""},
		{"another status is dead", func(h *crawl.HealthCheck) { h.URL += "/status/500" }, probe.Dead, "", "answered 500, expected 200"},
		{"401 of the target is blocked", func(h *crawl.HealthCheck) { h.URL += "/status/401" }, probe.Blocked, "", "answered 401"},
		{"an expected 403 is healthy", func(h *crawl.HealthCheck) { h.URL += "/status/403"; h.ExpectedStatus = 403 }, probe.Healthy, "", ""},
		{"the body has what is asked for", func(h *crawl.HealthCheck) { h.URL += "/text"; h.BodyContains = "shop" }, probe.Healthy, "", ""},
		{"the body lacks what is asked for", func(h *crawl.HealthCheck) { h.URL += "/text"; h.BodyContains = "bank" }, probe.Dead, "", `without "bank"`},
		{"only 64 KiB of the body are read", func(h *crawl.HealthCheck) { h.URL += "/large"; h.BodyContains = "late" }, probe.Dead, "", "64 KiB"},
		{"a late answer is slow", func(h *crawl.HealthCheck) { h.URL += "/slow"; h.SlowAfter = milliseconds(20) }, probe.Slow, "127.0.0.1", "slow is more than 20ms"},
		{"no answer in time is dead", func(h *crawl.HealthCheck) { h.URL += "/slow"; h.Timeout = milliseconds(20) }, probe.Dead, "", "no answer in time"},
		{"a majority of the targets is enough", func(h *crawl.HealthCheck) { h.URL, h.URLs = "", []string{nobody, plain.URL, secure.URL} }, probe.Healthy, "127.0.0.1", ""},
		{"less than the quorum is dead", func(h *crawl.HealthCheck) { h.URL, h.URLs, h.Quorum = "", []string{nobody, plain.URL}, 2 }, probe.Dead, "", "1 of 2 targets answered, 2 must"},
		{"blocked targets leave a quorum open", func(h *crawl.HealthCheck) {
			h.URL, h.URLs = "", []string{nobody, plain.URL, plain.URL + "/status/403"}
		}, probe.Blocked, "", "answered 403"},
		{"the exit is asked of the echo URL", func(h *crawl.HealthCheck) {
			h.URL += "/text"
			h.Exit = &crawl.ExitCheck{EchoURL: plain.URL, Expect: "127.0.0.0/8"}
		}, probe.Healthy, "127.0.0.1", ""},
		{"another exit is wrong", func(h *crawl.HealthCheck) { h.Exit = &crawl.ExitCheck{Expect: "192.0.2.1"} }, probe.WrongExit, "127.0.0.1", "expected 192.0.2.1"},
		{"an echo URL that is out of order proves nothing", func(h *crawl.HealthCheck) {
			h.Exit = &crawl.ExitCheck{EchoURL: plain.URL + "/status/500", Expect: "127.0.0.1"}
		}, probe.Blocked, "", "exit address unknown"},
		{"an echo URL that is out of order is no matter when nothing is expected", func(h *crawl.HealthCheck) {
			h.Exit = &crawl.ExitCheck{EchoURL: nobody}
		}, probe.Healthy, "", ""},
		{"an exit that nobody tells is unknown", func(h *crawl.HealthCheck) {
			h.URL += "/text"
			h.Exit = &crawl.ExitCheck{Expect: "127.0.0.1"}
		}, probe.Blocked, "", "set healthCheck.exit.echoURL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := probe.Probe(t.Context(), targetFor(t, proxy, plain.URL, trusting(secure), checking(tt.check)))
			if r.Verdict != tt.want || r.ExitIP != tt.exit || !strings.Contains(r.Message, tt.says) {
				t.Errorf("got %+v; want %s, exit %q, message with %q", r, tt.want, tt.exit, tt.says)
			}
			if r.Verdict.OK() && r.Latency <= 0 {
				t.Errorf("latency %v", r.Latency)
			}
		})
	}
}

func TestProbeOfBrokenProxies(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(target.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = conn.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
		_ = conn.Close()
	}))
	t.Cleanup(garbage.Close)

	// What must be found out has time to be, on a busy machine too.
	short, long := milliseconds(300), milliseconds(60_000)
	for name, tt := range map[string]struct {
		proxy, says string
		timeout     *metav1.Duration
	}{
		"nothing listens":              {"http://" + freeAddress(t), "cannot use the proxy", long},
		"it accepts and never answers": {"http://" + silent.Addr().String(), "no answer in time", short},
		"it does not speak HTTP":       {garbage.URL, "malformed", long},
		"it does not speak SOCKS":      {strings.Replace(garbage.URL, "http", "socks5", 1), "no answer in time", short},
		"it does not speak TLS":        {strings.Replace(garbage.URL, "http", "https", 1), "tls", long},
	} {
		t.Run(name, func(t *testing.T) {
			bounded := checking(func(h *crawl.HealthCheck) { h.Timeout = tt.timeout })
			r := probe.Probe(t.Context(), targetFor(t, endpoint(t, tt.proxy), target.URL, bounded))
			if r.Verdict != probe.Dead || !strings.Contains(r.Message, tt.says) {
				t.Errorf("got %+v, want dead with %q", r, tt.says)
			}
		})
	}
}

func TestProbeUsesAFreshConnection(t *testing.T) {
	var accepted atomic.Int32
	server := httptest.NewUnstartedServer(newForward())
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			accepted.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(secure.Close)
	target := targetFor(t, endpoint(t, server.URL), secure.URL, trusting(secure))
	for range 3 {
		if r := probe.Probe(t.Context(), target); r.Verdict != probe.Healthy {
			t.Fatalf("got %+v", r)
		}
	}
	if n := accepted.Load(); n != 3 {
		t.Errorf("3 probes used %d connections to the proxy", n)
	}
}

func TestProbeTrustsNoOtherCA(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(secure.Close)
	r := probe.Probe(t.Context(), targetFor(t, endpoint(t, startForward(t).URL), secure.URL))
	if r.Verdict != probe.Dead || !strings.Contains(r.Message, "certificate") {
		t.Errorf("got %+v, want dead for its certificate", r)
	}
}

func TestProbeThroughHTTPSProxy(t *testing.T) {
	proxy := httptest.NewTLSServer(newForward())
	t.Cleanup(proxy.Close)
	plain := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(http.HandlerFunc(echo)) // httptest signs all with one certificate
	t.Cleanup(secure.Close)
	for _, u := range []string{plain.URL, secure.URL} {
		if r := probe.Probe(t.Context(), targetFor(t, endpoint(t, proxy.URL), u, trusting(proxy))); r.Verdict != probe.Healthy {
			t.Errorf("%s: got %+v", u, r)
		}
	}
}

func TestProbeThroughSOCKS5(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(plain.Close)
	u, err := url.Parse(plain.URL)
	if err != nil {
		t.Fatal(err)
	}
	socks := startSOCKS(t, "s3cret", u.Port())
	for name, tt := range map[string]struct {
		url, password string
		want          probe.Verdict
	}{
		"the right password is healthy":           {plain.URL, "s3cret", probe.Healthy},
		"a wrong password is auth":                {plain.URL, "c4nary", probe.Auth},
		"no password is auth":                     {plain.URL, "", probe.Auth},
		"a target against its rules is forbidden": {"http://127.0.0.1:9", "s3cret", probe.Forbidden},
		"what the target says is not the proxy's": {plain.URL + "/status/407", "s3cret", probe.Dead},
	} {
		t.Run(name, func(t *testing.T) {
			target := targetFor(t, socks, tt.url)
			if tt.password != "" {
				target.Credentials = url.UserPassword("robot", tt.password)
			}
			if r := probe.Probe(t.Context(), target); r.Verdict != tt.want {
				t.Errorf("got %+v, want %s", r, tt.want)
			}
		})
	}
}
