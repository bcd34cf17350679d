package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/api/lease/desk/desktest"
)

// stillLeader takes requests and answers none, like a process that was stopped.
func stillLeader(t *testing.T) (leader *httptest.Server, asked <-chan *http.Request) {
	t.Helper()
	requests, over := make(chan *http.Request, 1), make(chan struct{})
	leader = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests <- r
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(leader.Close)
	t.Cleanup(func() { close(over) })
	return leader, requests
}

func TestAForwardEndsWithItsLeader(t *testing.T) {
	for name, tt := range map[string]struct {
		method, path, body string
		change             func(w *world, stop func())
		word               string
	}{
		"when another replica leads":         {"POST", "/v1/leases", `{"waitSeconds":60}`, func(w *world, _ func()) { w.place.Take("http://127.0.0.1:1") }, "leader_lost"},
		"when this one leads":                {"POST", "/v1/leases", `{}`, func(w *world, _ func()) { w.place.GiveBack() }, "leader_lost"},
		"when this one ends":                 {"POST", "/v1/leases", `{"waitSeconds":60}`, func(_ *world, stop func()) { stop() }, "stopping"},
		"when it stands still, and leads on": {"GET", "/v1/leases", "", func(*world, func()) {}, "leader_lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leader, asked := stillLeader(t)
			w, s := follower(t, leader.URL, nil)
			stop := desktest.Start(t, w.options.Desk)
			replies := make(chan reply, 1)
			begun := time.Now()
			go func() {
				replies <- w.send(s, tt.method, tt.path, strings.NewReader(tt.body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
			}()
			<-asked
			tt.change(w, stop)
			r := comes(t, replies)
			if r.code != http.StatusServiceUnavailable || r.field(t, "error") != tt.word || r.header.Get("Retry-After") != "1" {
				t.Errorf("%d %v %s", r.code, r.header, r.text)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestAForwardKeepsItsKey(t *testing.T) {
	leader, asked := stillLeader(t)
	w, s := follower(t, leader.URL, nil)
	replies := make(chan reply, 1)
	go func() {
		replies <- w.send(s, "POST", "/v1/leases", strings.NewReader(`{}`), keyed("k"), func(r *http.Request) { r.Header.Set("Connection", "Idempotency-Key") })
	}()
	if got := (<-asked).Header.Get("Idempotency-Key"); got != "k" {
		t.Errorf("the leader got the key %q", got)
	}
	w.place.Take("http://127.0.0.1:1")
	comes(t, replies)
}
