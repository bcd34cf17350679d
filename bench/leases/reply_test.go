package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

func TestWhatBecameOfARequest(t *testing.T) {
	for _, tt := range []struct {
		name               string
		status             int
		body               string
		known, void, doubt bool
	}{
		{"done", 201, `{}`, true, false, false},
		{"refused", 409, `{"error": "no_match"}`, true, false, false},
		{"not sent to the leader", 503, `{"error": "no_leader"}`, false, true, false},
		{"lost with the leader", 503, `{"error": "leader_lost"}`, false, false, true},
		{"not kept", 503, `{"error": "unavailable"}`, false, false, true},
		{"stopping", 503, `{"error": "stopping"}`, false, false, true},
		{"answered by something else", 502, `<html>`, false, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := answered(span{ms, 2 * ms}, tt.status, nil, []byte(tt.body))
			if r.known() != tt.known || r.void != tt.void || r.doubt() != tt.doubt {
				t.Errorf("known %t, void %t, doubt %t, want %t, %t, %t", r.known(), r.void, r.doubt(), tt.known, tt.void, tt.doubt)
			}
			if (r.got == never) != tt.doubt {
				t.Errorf("it was over at %s", seconds(r.got))
			}
		})
	}
}

func testCaller(urls ...string) *caller {
	start := time.Now()
	return newCaller(func() time.Duration { return time.Since(start) }, "token", urls, dice.New(1))
}

// closedAddress is one that nobody listens on.
func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

func TestARequestThatReachedNobodyWasNotDone(t *testing.T) {
	r := testCaller(closedAddress(t)).send(t.Context(), request{method: http.MethodPost, path: "/", body: renewBody{}})
	if r.known() || !r.void || r.doubt() {
		t.Errorf("got %s, want one that was not sent", r)
	}
}

func TestAConnectionThatBreaksLeavesADoubt(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	r := testCaller(server.URL).send(t.Context(), request{method: http.MethodPost, path: "/", body: renewBody{}, key: "k"})
	if !r.doubt() || r.got != never || asked.Load() != 1 {
		t.Errorf("got %s after %d requests, want a doubt after one", r, asked.Load())
	}
}

func TestInsistingGoesOnToAnotherReplica(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer down.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer up.Close()
	c := testCaller(down.URL, up.URL)
	doubtful := 0
	for range 20 {
		r := c.insist(t.Context(), request{method: http.MethodPost, path: "/", body: renewBody{}})
		if !r.is(http.StatusNoContent) {
			t.Fatalf("got %s, want the answer of the one that is up", r)
		}
		if r.doubt() {
			doubtful++
		}
	}
	if doubtful == 0 || doubtful == 20 {
		t.Errorf("%d of 20 requests left a doubt, want some", doubtful)
	}
}

func TestInsistingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := testCaller(closedAddress(t)).insist(ctx, request{method: http.MethodGet, path: "/"}); r.known() {
		t.Errorf("nobody answered %s", r)
	}
}
