package probe_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elazarl/goproxy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/probe"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// echo answers with the caller's address, /status/N with that status, /slow late.
func echo(w http.ResponseWriter, r *http.Request) {
	if status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/")); err == nil {
		w.Header().Set("Location", "/")
		w.WriteHeader(status)
		return
	}
	switch r.URL.Path {
	case "/slow":
		select {
		case <-r.Context().Done():
		case <-time.After(60 * time.Millisecond):
		}
	case "/text":
		_, _ = io.WriteString(w, "welcome to the shop")
		return
	case "/large":
		_, _ = io.WriteString(w, strings.Repeat(".", 64<<10)+"too late")
		return
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	_, _ = fmt.Fprintln(w, host)
}

func newForward() *goproxy.ProxyHttpServer {
	proxy := goproxy.NewProxyHttpServer()
	proxy.Logger = log.New(io.Discard, "", 0)
	return proxy
}

// startForward runs a forward proxy for GET and CONNECT.
func startForward(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(newForward())
	t.Cleanup(server.Close)
	return server
}

func endpoint(t *testing.T, raw string) probe.Endpoint {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(u.Port(), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return probe.Endpoint{Scheme: u.Scheme, Host: u.Hostname(), Port: int32(port)}
}

// targetFor is a Target as the engine gets it for an External proxy.
func targetFor(t *testing.T, proxy probe.Endpoint, u string, edits ...func(*crawl.Proxy, *probe.Secrets)) probe.Target {
	t.Helper()
	p := &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "crawl", Name: "demo", UID: "uid-demo"},
		Spec: crawl.ProxySpec{
			Mode:        crawl.ModeExternal,
			Endpoint:    &crawl.Endpoint{Host: proxy.Host, Port: proxy.Port, Scheme: crawl.Scheme(proxy.Scheme)},
			HealthCheck: &crawl.HealthCheck{URL: u},
		},
	}
	var s probe.Secrets
	for _, edit := range edits {
		edit(p, &s)
	}
	target, ok := probe.TargetOf(p, s, "")
	if !ok {
		t.Fatal("nothing to probe")
	}
	return target
}

func checking(edit func(*crawl.HealthCheck)) func(*crawl.Proxy, *probe.Secrets) {
	return func(p *crawl.Proxy, _ *probe.Secrets) { edit(p.Spec.HealthCheck) }
}

func trusting(server *httptest.Server) func(*crawl.Proxy, *probe.Secrets) {
	return func(_ *crawl.Proxy, s *probe.Secrets) {
		s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
}

func milliseconds(ms int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(ms) * time.Millisecond}
}

// startSOCKS runs a SOCKS5 proxy (RFC 1928, 1929) that asks for robot's password
// and refuses any target port but allowed.
func startSOCKS(t *testing.T, password, allowed string) probe.Endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if err := serveSOCKS(conn, password, allowed); err != nil && !errors.Is(err, io.EOF) {
					t.Logf("socks: %v", err)
				}
			}()
		}
	}()
	return endpoint(t, "socks5://"+l.Addr().String())
}

func serveSOCKS(conn net.Conn, password, allowed string) error {
	methods, err := readSOCKS(conn, 1)
	if err != nil {
		return err
	}
	if !bytes.Contains(methods, []byte{2}) {
		_, err := conn.Write([]byte{5, 0xff})
		return err
	}
	if _, err := conn.Write([]byte{5, 2}); err != nil { // username and password
		return err
	}
	if _, err := readSOCKS(conn, 1); err != nil { // user name
		return err
	}
	given, err := readBlock(conn)
	if err != nil {
		return err
	}
	if string(given) != password {
		_, err := conn.Write([]byte{1, 1})
		return err
	}
	if _, err := conn.Write([]byte{1, 0}); err != nil {
		return err
	}
	request := make([]byte, 10) // version, connect, 0, IPv4, address, port
	if _, err := io.ReadFull(conn, request); err != nil {
		return err
	}
	port := strconv.Itoa(int(request[8])<<8 | int(request[9]))
	if port != allowed {
		_, err := conn.Write([]byte{5, 2, 0, 1, 0, 0, 0, 0, 0, 0}) // not allowed by ruleset
		return err
	}
	upstream, err := net.Dial("tcp", net.JoinHostPort(net.IP(request[4:8]).String(), port))
	if err != nil {
		return err
	}
	defer func() { _ = upstream.Close() }()
	if _, err := conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(upstream, conn) }()
	_, err = io.Copy(conn, upstream)
	return err
}

// readSOCKS reads a version byte and a counted block.
func readSOCKS(r io.Reader, version int) ([]byte, error) {
	if _, err := io.ReadFull(r, make([]byte, version)); err != nil {
		return nil, err
	}
	return readBlock(r)
}

func readBlock(r io.Reader) ([]byte, error) {
	n := make([]byte, 1)
	if _, err := io.ReadFull(r, n); err != nil {
		return nil, err
	}
	block := make([]byte, n[0])
	_, err := io.ReadFull(r, block)
	return block, err
}
