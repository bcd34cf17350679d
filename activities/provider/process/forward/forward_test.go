package forward_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"example.com/fairlead/activities/provider/process/forward"
	"example.com/fairlead/internal/eventually"
)

const exitAddress = "127.64.9.1"

// output collects a log.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// running is a proxy that runs in this process.
type running struct {
	address string
	stop    context.CancelFunc
	done    chan error
	log     *output
}

func start(t *testing.T, o forward.Options) *running {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{address: address, stop: cancel, done: make(chan error, 1), log: &output{}}
	o.Listen, o.Out = address, r.log
	go func() { r.done <- forward.Run(ctx, o) }()
	eventually.Until(t, "the proxy listens", func() bool {
		select {
		case err := <-r.done:
			t.Fatalf("the proxy ended: %v", err)
		default:
		}
		return strings.Contains(r.log.String(), "proxy listens")
	})
	t.Cleanup(func() {
		cancel()
		if err := <-r.done; err != nil {
			t.Errorf("the proxy ended with %v", err)
		}
	})
	return r
}

// client speaks through the proxy.
func (r *running) client(user *url.Userinfo, target *httptest.Server) *http.Client {
	transport := target.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", User: user, Host: r.address})
	transport.DisableKeepAlives = true
	return &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// caller answers who called.
var caller = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	_, _ = io.WriteString(w, host)
})

func TestTargetsSeeTheExitAddress(t *testing.T) {
	p := start(t, forward.Options{DialFrom: exitAddress})
	for name, target := range map[string]*httptest.Server{
		"http":                  httptest.NewServer(caller),
		"https through CONNECT": httptest.NewTLSServer(caller),
	} {
		t.Run(name, func(t *testing.T) {
			defer target.Close()
			if status, body := get(t, p.client(nil, target), target.URL); status != http.StatusOK || body != exitAddress {
				t.Errorf("the target answered %d %q", status, body)
			}
		})
	}
}

func TestOnlyTheClientsOwnHeadersArePassedOn(t *testing.T) {
	var got http.Header
	var query string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, query = r.Header.Clone(), r.URL.RawQuery
		w.Header().Set("Connection", "X-Private")
		w.Header().Set("X-Private", "1")
		w.Header().Set("X-Public", "1")
	}))
	defer target.Close()
	p := start(t, forward.Options{})
	req, err := http.NewRequest(http.MethodGet, target.URL+"/?a=1;b=%zz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"X-Forwarded-For":     {"192.0.2.7"},
		"Connection":          {"X-Hop"},
		"X-Hop":               {"1"},
		"Proxy-Authorization": {"Basic eDp5"},
		"Proxy-Connection":    {"keep-alive"},
		"User-Agent":          {"crawler"},
		"Accept-Encoding":     {"identity"},
	}
	resp, err := p.client(nil, target).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	want := http.Header{"X-Forwarded-For": {"192.0.2.7"}, "User-Agent": {"crawler"}, "Accept-Encoding": {"identity"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers at the target (-want +got):\n%s", diff)
	}
	if query != "a=1;b=%zz" {
		t.Errorf("the query at the target is %q", query)
	}
	if resp.Header.Get("X-Private") != "" || resp.Header.Get("X-Public") != "1" || resp.Header.Get("Via") != "" {
		t.Errorf("headers at the client: %v", resp.Header)
	}
}

func TestCredentialsAreAskedFor(t *testing.T) {
	target := httptest.NewServer(caller)
	defer target.Close()
	secure := httptest.NewTLSServer(caller)
	defer secure.Close()
	file := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(file, []byte("crawler:p:w é\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, forward.Options{AuthFile: file})
	for name, test := range map[string]struct {
		user   *url.Userinfo
		status int
	}{
		"the right ones":   {url.UserPassword("crawler", "p:w é"), http.StatusOK},
		"none":             {nil, http.StatusProxyAuthRequired},
		"a wrong password": {url.UserPassword("crawler", "p"), http.StatusProxyAuthRequired},
		"a wrong user":     {url.UserPassword("scraper", "p:w é"), http.StatusProxyAuthRequired},
	} {
		t.Run(name, func(t *testing.T) {
			if status, _ := get(t, p.client(test.user, target), target.URL); status != test.status {
				t.Errorf("the proxy answered %d", status)
			}
			resp, err := p.client(test.user, secure).Get(secure.URL)
			if err == nil {
				_ = resp.Body.Close()
			}
			if ok := err == nil; ok != (test.status == http.StatusOK) {
				t.Errorf("CONNECT: %v", err)
			}
		})
	}
}

func TestUselessRequestsAreToldWhy(t *testing.T) {
	closed := httptest.NewServer(caller)
	closed.Close()
	p := start(t, forward.Options{DialFrom: exitAddress})
	for name, test := range map[string]struct {
		request, says string
		status        int
	}{
		"a request for the proxy itself":   {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "forward proxy", 400},
		"another scheme":                   {"GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n", "forward proxy", 400},
		"CONNECT without a port":           {"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", "host:port", 400},
		"a target that refuses":            {"GET " + closed.URL + "/ HTTP/1.1\r\nHost: x\r\n\r\n", "connection refused", 502},
		"CONNECT to a target that refuses": {"CONNECT " + closed.Listener.Addr().String() + " HTTP/1.1\r\nHost: x\r\n\r\n", "connection refused", 502},
		"a target beyond the machine":      {"GET http://192.0.2.1/ HTTP/1.1\r\nHost: x\r\n\r\n", "cannot be reached from the loopback address " + exitAddress, 502},
		"CONNECT beyond the machine":       {"CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", "cannot be reached from the loopback address " + exitAddress, 502},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, p.address)
			if _, err := io.WriteString(conn, strings.Replace(test.request, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(answer), fmt.Sprintf("HTTP/1.1 %d ", test.status)) || !strings.Contains(string(answer), test.says) {
				t.Errorf("the proxy answered %q, want %d and %q", answer, test.status, test.says)
			}
		})
	}
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

// listen serves each connection with serve.
func listen(t *testing.T, serve func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				serve(conn.(*net.TCPConn))
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	return l.Addr().String()
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// open makes a tunnel; early goes out together with the request.
func open(t *testing.T, p *running, target, early string) *net.TCPConn {
	t.Helper()
	conn := dial(t, p.address)
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n%s", target, target, early); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len(established))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != established {
		t.Fatalf("the proxy answered %q (%v)", head, err)
	}
	return conn
}

func TestTunnelPassesOnTheEndOfOneDirection(t *testing.T) {
	target := listen(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c) // ends only when the client's end arrives
		_, _ = fmt.Fprintf(c, "got %s", all)
	})
	conn := open(t, start(t, forward.Options{}), target, "early ")
	if _, err := io.WriteString(conn, "late"); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || string(answer) != "got early late" {
		t.Errorf("through the tunnel came %q (%v)", answer, err)
	}
}

func TestTunnelOfAFailedTargetEnds(t *testing.T) {
	target := listen(t, func(c *net.TCPConn) {
		_ = c.SetLinger(0) // closing resets the connection
		_, _ = io.ReadFull(c, make([]byte, 1))
	})
	conn := open(t, start(t, forward.Options{}), target, "x")
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client's side stays open")
	}
}

func TestStopEndsWhatIsUnderWayAfterTheGrace(t *testing.T) {
	target := listen(t, func(c *net.TCPConn) { _, _ = io.ReadAll(c) })
	p := start(t, forward.Options{StopGrace: 20 * time.Millisecond})
	conn := open(t, p, target, "")
	p.stop()
	if err := <-p.done; err != nil {
		t.Errorf("the proxy ended with %v", err)
	}
	p.done <- nil // for the cleanup
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the tunnel outlives the proxy")
	}
}

func TestStopLetsARequestFinish(t *testing.T) {
	arrived, finish := make(chan struct{}), make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-finish
		caller(w, r)
	}))
	defer target.Close()
	p := start(t, forward.Options{StopGrace: time.Minute})
	c := p.client(nil, target)
	go func() {
		<-arrived
		p.stop()
		close(finish)
	}()
	if status, body := get(t, c, target.URL); status != http.StatusOK || body != "127.0.0.1" {
		t.Errorf("the request ended with %d %q", status, body)
	}
}

// TestAnAddressThatIsFreedIsTaken: the sockets of a process that ended go some moments
// after its locks.
func TestAnAddressThatIsFreedIsTaken(t *testing.T) {
	former, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = former.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	log, done := &output{}, make(chan error, 1)
	go func() { done <- forward.Run(ctx, forward.Options{Listen: former.Addr().String(), Out: log}) }()
	eventually.Until(t, "the proxy listens", func() bool { return strings.Contains(log.String(), "proxy listens") })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	taken := dialable(t)
	noColon := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(noColon, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options forward.Options
		says    string
	}{
		"a taken address":                   {forward.Options{Listen: taken}, "serve on " + taken},
		"a source that is no address":       {forward.Options{DialFrom: "here"}, "address to dial from"},
		"credentials that are not there":    {forward.Options{AuthFile: "/nowhere"}, "read credentials"},
		"credentials without a password":    {forward.Options{AuthFile: noColon}, "username:password"},
		"a lock file that is not there":     {forward.Options{LockFile: "/nowhere"}, "open lock file"},
		"an address that is not an address": {forward.Options{Listen: "nowhere"}, "serve on nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Out = io.Discard
			err := forward.Run(t.Context(), test.options)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("the error is %v, want one that says %q", err, test.says)
			}
		})
	}
}

func dialable(t *testing.T) string {
	return listen(t, func(*net.TCPConn) {})
}

func TestFlagsCarryAllOptions(t *testing.T) {
	want := forward.Options{Listen: "127.0.0.1:1", DialFrom: exitAddress, AuthFile: "/a b", LockFile: "/l", StopGrace: time.Minute}
	var got forward.Options
	fs := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	got.AddFlags(fs)
	if err := fs.Parse(want.Args()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
