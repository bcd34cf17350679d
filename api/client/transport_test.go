package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider/process/forward"
	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
	"example.com/fairlead/internal/eventually"
)

const exitAddress = "127.64.11.1"

// forwardProxy runs a real one that asks for credentials.
func forwardProxy(t *testing.T) *clienttest.Proxy {
	t.Helper()
	free := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	at := free.Addr().(*net.TCPAddr)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	auth := filepath.Join(t.TempDir(), "auth")
	if err := os.WriteFile(auth, []byte("crawler:p:w é\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- forward.Run(ctx, forward.Options{Listen: at.String(), DialFrom: exitAddress, AuthFile: auth, Out: io.Discard})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the proxy ended: %v", err)
		}
	})
	eventually.Until(t, "the proxy listens", func() bool {
		conn, err := net.Dial("tcp", at.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return &clienttest.Proxy{Name: "real", Namespace: "crawl", Scheme: "http", Host: at.IP.String(), Port: at.Port, Username: "crawler", Password: "p:w é"}
}

// caller answers who called.
var caller = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	_, _ = io.WriteString(w, host)
})

func get(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	resp := must(c.Get(address))(t)
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, string(must(io.ReadAll(resp.Body))(t))
}

func TestRequestsGoThroughTheProxy(t *testing.T) {
	proxy := forwardProxy(t)
	plain, secure := httptest.NewServer(caller), httptest.NewTLSServer(caller)
	defer plain.Close()
	defer secure.Close()
	for name, target := range map[string]*httptest.Server{"http": plain, "https": secure} {
		t.Run(name, func(t *testing.T) {
			api := clienttest.New(proxy)
			l := must(connected(t, api).Acquire(t.Context(), client.Request{}))(t)
			base := target.Client().Transport.(*http.Transport)
			through := &http.Client{Transport: l.Transport(base)}
			defer through.CloseIdleConnections()
			if status, body := get(t, through, target.URL); status != http.StatusOK || body != exitAddress {
				t.Errorf("the target answered %d %q", status, body)
			}
			if base.Proxy != nil {
				t.Error("the transport that was given is changed")
			}
			closed(t, l)
			if _, err := through.Get(target.URL); !errors.Is(err, client.ErrReleased) {
				t.Errorf("after Close: %v", err)
			}
			if asked := api.Asked("POST /v1/leases/lease-001/report"); len(asked) != 0 {
				t.Errorf("reported %v", asked)
			}
		})
	}
}

func TestAProxyThatRefusesTheCredentialsIsNoBan(t *testing.T) {
	proxy := forwardProxy(t)
	proxy.Password = "former"
	target := httptest.NewServer(caller)
	defer target.Close()
	api := clienttest.New(proxy)
	l := must(connected(t, api).Acquire(t.Context(), client.Request{}))(t)
	through := &http.Client{Transport: l.Transport(nil)}
	defer through.CloseIdleConnections()
	if status, _ := get(t, through, target.URL); status != http.StatusProxyAuthRequired {
		t.Errorf("the proxy answered %d", status)
	}
	closed(t, l)
	if asked := api.Asked("POST /v1/leases/lease-001/report"); len(asked) != 0 {
		t.Errorf("reported %v", asked)
	}
}

func TestNoRequestIsSentAfterTheLease(t *testing.T) {
	api := clienttest.New(proxyNamed("a"))
	l := must(connected(t, api).Acquire(t.Context(), client.Request{}))(t)
	closed(t, l)
	body := &closing{Reader: strings.NewReader("x")}
	req := must(http.NewRequest(http.MethodPost, "http://shop.example/", body))(t)
	if _, err := l.Transport(nil).RoundTrip(req); !errors.Is(err, client.ErrReleased) || !body.closed {
		t.Errorf("error %v, body closed %v", err, body.closed)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestClassify(t *testing.T) {
	want := map[int]client.Result{200: client.OK, 304: client.OK, 401: "", 403: client.Banned, 404: "", 407: "", 429: client.RateLimited, 503: ""}
	got := map[int]client.Result{}
	for status := range want {
		got[status] = client.Classify(&http.Response{StatusCode: status})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
