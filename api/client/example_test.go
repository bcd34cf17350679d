package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/client"
	"example.com/fairlead/api/client/clienttest"
)

// fetch reads pages of one host through one proxy.
func fetch(ctx context.Context, api *client.Client, host string, pages []string, keep func(page string, body []byte)) error {
	lease, err := api.Acquire(ctx, client.Request{
		Selector: map[string]string{"region": "local"},
		Target:   host,
		Wait:     30 * time.Second,
	})
	if err != nil {
		return err
	}
	defer func() { _ = lease.Close(context.WithoutCancel(ctx)) }()

	ctx, cancel := lease.Context(ctx) // ends with the lease, too
	defer cancel()
	through := &http.Client{Transport: lease.Transport(nil)}
	for _, page := range pages {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := through.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		keep(page, body)
		if lease.ProxyDraining() {
			break // get another lease: this proxy is about to be replaced
		}
	}
	return nil
}

// why says what to do about a lease that could not be had.
func why(err error) string {
	var none *client.NoMatch
	switch {
	case errors.As(err, &none) && none.Considered == 0:
		return "no proxy has these attributes"
	case errors.As(err, &none):
		return fmt.Sprintf("%d busy, %d resting: again in %s", none.AtCapacity, none.InCooldown, none.RetryAfter)
	case errors.Is(err, client.ErrBudget):
		return "the target was asked as often as it may be"
	case errors.Is(err, client.ErrUnauthorized):
		return "the token is not known"
	}
	return err.Error()
}

func Example() {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "you asked for "+r.URL.String())
	}))
	defer proxy.Close()
	at := proxy.Listener.Addr().(*net.TCPAddr)
	server := httptest.NewServer(clienttest.New(&clienttest.Proxy{
		Namespace: "crawl", Name: "a", Scheme: "http", Host: at.IP.String(), Port: at.Port, Attributes: map[string]string{"region": "local"},
	}))
	defer server.Close()

	out := log.New(os.Stdout, "", 0)
	api, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		out.Print(err)
		return
	}
	err = fetch(context.Background(), api, "shop.example", []string{"http://shop.example/"}, func(page string, body []byte) {
		out.Printf("%s: %s", page, body)
	})
	if err != nil {
		out.Print(why(err))
	}
	_, err = api.Acquire(context.Background(), client.Request{Selector: map[string]string{"region": "moon"}})
	out.Print(why(err))
	// Output:
	// http://shop.example/: you asked for http://shop.example/
	// no proxy has these attributes
}

func TestTheCodeOfTheDocumentIsThisCode(t *testing.T) {
	document := string(must(os.ReadFile("../../docs/client.md"))(t))
	code := string(must(os.ReadFile("example_test.go"))(t))
	blocks := strings.Split(document, "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the document has no code")
	}
	for _, b := range blocks {
		if b, _, _ = strings.Cut(b, "```"); !strings.Contains(code, b) {
			t.Errorf("not in example_test.go:\n%s", b)
		}
	}
}
