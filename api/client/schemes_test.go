package client_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

// proxyAt is one of a scheme, with credentials.
func proxyAt(scheme string, at net.Addr) *clienttest.Proxy {
	a := at.(*net.TCPAddr)
	return &clienttest.Proxy{Namespace: "crawl", Name: "a", Scheme: scheme, Host: a.IP.String(), Port: a.Port, Username: "crawler", Password: "p:w é"}
}

func TestAProxyThatIsReachedByTLS(t *testing.T) {
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		user, password, _ := asked.BasicAuth()
		_, _ = io.WriteString(w, user+" "+password+" "+r.URL.String())
	}))
	defer proxy.Close()
	l := must(connected(t, clienttest.New(proxyAt("https", proxy.Listener.Addr()))).Acquire(t.Context(), client.Request{}))(t)
	defer closed(t, l)
	through := &http.Client{Transport: l.Transport(proxy.Client().Transport.(*http.Transport))}
	if _, body := get(t, through, "http://shop.example/"); body != "crawler p:w é http://shop.example/" {
		t.Errorf("the proxy saw %q", body)
	}
}

func TestASocksProxy(t *testing.T) {
	target := httptest.NewServer(caller)
	defer target.Close()
	socks := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var serving sync.WaitGroup
	var asked string
	serving.Go(func() {
		conn, err := socks.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		asked = serveSocks(t, conn, target.Listener.Addr().String())
	})
	l := must(connected(t, clienttest.New(proxyAt("socks5", socks.Addr()))).Acquire(t.Context(), client.Request{}))(t)
	through := &http.Client{Transport: l.Transport(nil)}
	if status, _ := get(t, through, "http://shop.example/"); status != http.StatusOK {
		t.Errorf("the target answered %d", status)
	}
	closed(t, l) // and the connection with it
	_ = socks.Close()
	serving.Wait()
	if asked != "crawler p:w é shop.example:80" {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// serveSocks is RFC 1928 with RFC 1929, as far as a client that connects to a name goes. It
// connects to target and returns who asked for what.
func serveSocks(t *testing.T, conn net.Conn, target string) string {
	in := bufio.NewReader(conn)
	bytes := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			t.Errorf("the proxy reads: %v", err)
		}
		return b
	}
	counted := func() string { return string(bytes(int(bytes(1)[0]))) }
	var asked []string
	bytes(1) // the version
	if methods := counted(); !strings.Contains(methods, "\x02") {
		t.Errorf("the client offers no password, but %q", methods)
	}
	_, _ = conn.Write([]byte{5, 2})
	bytes(1)
	asked = append(asked, counted(), counted())
	_, _ = conn.Write([]byte{1, 0})
	bytes(4) // version, CONNECT, reserved, a name
	host := counted()
	asked = append(asked, net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(bytes(2))))))
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", target)
	if err != nil {
		t.Errorf("the proxy dials: %v", err)
		return ""
	}
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(conn, out)
	return strings.Join(asked, " ")
}
