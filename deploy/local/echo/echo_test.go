package echo_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/echo"
)

// serve runs the target until the test ends and gives its URL.
func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- echo.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// get fetches url from a source address.
func get(t *testing.T, source, url string) string {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", "192.0.2.1")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAnswersTheAddressOfTheConnection(t *testing.T) {
	url := serve(t)
	for _, source := range []string{"127.0.0.1", "127.64.0.9"} {
		for _, path := range []string{"/", "/any/path?q=1"} {
			if got, want := get(t, source, url+path), source+"\n"; got != want {
				t.Errorf("GET %s from %s answers %q, want %q", path, source, got, want)
			}
		}
	}
}

func TestJSONShowsHeaders(t *testing.T) {
	var got struct {
		Address string
		Headers http.Header
	}
	if err := json.Unmarshal([]byte(get(t, "127.64.0.9", serve(t)+"/json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Address != "127.64.0.9" || got.Headers.Get("X-Forwarded-For") != "192.0.2.1" {
		t.Errorf("answer is %+v", got)
	}
}

func TestAPathBesideItIsAnotherHandlers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	path := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "path "+r.URL.Path) })
	go func() { ended <- echo.Serve(ctx, l, echo.Beside{Path: "/files/", Handler: path}) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	url := "http://" + l.Addr().String()
	for from, want := range map[string]string{"/files/a/b": "path /a/b", "/other": "127.0.0.1\n", "/files": "path /"} {
		if got := get(t, "127.0.0.1", url+from); got != want {
			t.Errorf("%s answers %q, want %q", from, got, want)
		}
	}
}
