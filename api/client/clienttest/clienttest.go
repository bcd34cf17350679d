// Package clienttest is the lease API for tests of its clients: it takes requests as strictly
// as the real one, lends each proxy to one at a time, and keeps what it was asked.
package clienttest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy that is lent.
type Proxy struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Scheme     string            `json:"scheme"`
	Host       string            `json:"host"`
	Port       int               `json:"port"`
	URL        string            `json:"url"`
	Attributes map[string]string `json:"attributes"`
	Username   string            `json:"username,omitempty"`
	Password   string            `json:"password,omitempty"` // #nosec G117 -- of a test

	// Trial: its leases are trials.
	Trial bool `json:"-"`
	// Unhealthy and Draining are told by renewals.
	Unhealthy bool `json:"-"`
	Draining  bool `json:"-"`
	// Gone proxies end their leases.
	Gone bool `json:"-"`
}

// Asked is a request that came, whatever became of it.
type Asked struct {
	Method, Path, Key, Authorization, Body string
}

// API is an http.Handler. Its clock is time.Now, so it may run in a bubble of synctest.
type API struct {
	// Token that is asked for; empty asks nobody.
	Token string
	// MaxTTL is the default and the longest, in seconds.
	MaxTTL int64
	// Instead answers a request before the API does, if it wants to.
	Instead func(w http.ResponseWriter, r *http.Request) bool
	// Lose breaks the connection instead of answering what was done.
	Lose func(r *http.Request) bool

	mu      sync.Mutex
	proxies []*Proxy
	leases  map[string]*lease
	keys    map[string]*remembered
	asked   []Asked
	granted int
	// changed is closed when a proxy may have become free.
	changed chan struct{}
}

type lease struct {
	ID      string
	proxy   *Proxy
	body    acquireBody
	granted time.Time
	expires time.Time
	ttl     int64
	gone    bool
}

type remembered struct {
	body    string
	leases  []*lease
	waiting bool
}

// New returns an API that lends proxies.
func New(proxies ...*Proxy) *API {
	return &API{MaxTTL: 3600, proxies: proxies, leases: map[string]*lease{}, keys: map[string]*remembered{}, changed: make(chan struct{})}
}

// Edit changes proxies, or fields of the API, while it serves.
func (a *API) Edit(edit func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	edit()
	a.wake()
}

// Proxies returns those that are lent; change them in Edit.
func (a *API) Proxies() []*Proxy { return a.proxies }

// Asked returns what was asked whose method and path begin like this, such as
// "DELETE /v1/leases".
func (a *API) Asked(prefix string) []Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.asked), func(q Asked) bool {
		return !strings.HasPrefix(q.Method+" "+q.Path, prefix)
	})
}

// Active returns the ids of the leases that are active, the oldest first.
func (a *API) Active() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := []string{}
	for _, l := range a.sorted() {
		ids = append(ids, l.ID)
	}
	return ids
}

// sorted are the active leases, the oldest first.
func (a *API) sorted() []*lease {
	var active []*lease
	for _, l := range a.leases {
		if l.active() {
			active = append(active, l)
		}
	}
	slices.SortFunc(active, func(x, y *lease) int { return strings.Compare(x.ID, y.ID) })
	return active
}

func (l *lease) active() bool {
	return !l.gone && !l.proxy.Gone && time.Now().Before(l.expires)
}

func (a *API) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// Client serves the API in memory, in a bubble of synctest too, and returns what it is
// reached with at every address.
func (a *API) Client(tb testing.TB) *http.Client {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t := &http.Transport{DialContext: l.dial}
	tb.Cleanup(func() {
		t.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return &http.Client{Transport: t}
}

// pipes is a network in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make it a net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends it.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is none.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // whoever has gone needs no answer
}

// Refuse answers like the API does.
func Refuse(w http.ResponseWriter, code int, word, message string) {
	answer(w, code, map[string]any{"error": word, "message": message, "requestID": "request-1"})
}

// Forget ends a lease as a release does.
func (a *API) Forget(id string) { a.Edit(func() { delete(a.leases, id) }) }

// Expire ends a lease as time does.
func (a *API) Expire(id string) { a.Edit(func() { a.leases[id].expires = time.Now() }) }
