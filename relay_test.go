package main

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay is a way to another address that can be cut.
type relay struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func newRelay(t *testing.T, address, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", target)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, from, to)
			r.mu.Unlock()
			passing.Go(func() { _, _ = io.Copy(to, from) }) // until one of them is closed
			passing.Go(func() { _, _ = io.Copy(from, to) })
		}
	})
	t.Cleanup(func() { r.cut(); passing.Wait() })
	return r
}

func (r *relay) cut() {
	_ = r.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
}
