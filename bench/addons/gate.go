package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// blow says at which write of a life the worker is killed; the zero one at none.
type blow struct {
	// step counts the writes from 1.
	step int
	// after: the API server has done the write, and nobody learns of it. Otherwise it never
	// hears of it.
	after bool
}

// gate is the way of one slot to the API server. It shows the Addons of that slot alone,
// counts what is written, and kills the worker where the blow falls.
type gate struct {
	slot string
	to   http.RoundTripper
	// kill ends the worker, and returns when it is gone; nil if nobody is killed here.
	kill func()
	now  func() time.Time

	mu     sync.Mutex
	blow   blow
	writes []string
	struck string
	fell   time.Time
	back   time.Duration
}

// errKilled is what becomes of a request whose sender is dead.
var errKilled = errors.New("the worker was killed")

// handler passes requests on to the API server at target.
func (g *gate) handler(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			g.narrow(r.Out)
		},
		Transport:     g,
		FlushInterval: -1, // watches
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
}

// labelSlot is on the Addons of a slot.
const labelSlot = "chaos.example.com/slot"

// narrow has a list of Addons, or a watch, be one of this slot.
func (g *gate) narrow(r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/apis/rendimiento.ai/v1alpha1/addons" {
		return
	}
	query := r.URL.Query()
	query.Set("labelSelector", labelSlot+"="+g.slot)
	r.URL.RawQuery = query.Encode()
}

// RoundTrip sends a request, unless the blow falls before it, or after it.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	now, after := g.count(r)
	if now && !after {
		g.strike()
		return nil, errKilled
	}
	reply, err := g.to.RoundTrip(r)
	if now {
		if err == nil {
			_ = reply.Body.Close() // nobody reads it
		}
		g.strike()
		return nil, errKilled
	}
	return reply, err
}

// count takes a request in, and says whether the blow falls at it, and after it.
func (g *gate) count(r *http.Request) (now, after bool) {
	what := writeOf(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	if what == "" || g.kill == nil {
		return false, false
	}
	g.writes = append(g.writes, what)
	if !g.fell.IsZero() && g.back == 0 {
		g.back = g.now().Sub(g.fell)
	}
	if g.struck != "" || len(g.writes) != g.blow.step {
		return false, false
	}
	g.struck = what
	return true, g.blow.after
}

func (g *gate) strike() {
	g.kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fell = g.now()
}

// arm begins another life.
func (g *gate) arm(b blow) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blow, g.writes, g.struck, g.fell, g.back = b, nil, "", time.Time{}, 0
}

// taken is what a gate has seen of a life.
type taken struct {
	writes []string
	// struck is the write at which the blow fell; empty if it did not.
	struck string
	// back is after how long the worker wrote again; 0 if it had nothing left to write.
	back time.Duration
}

func (g *gate) taken() taken {
	g.mu.Lock()
	defer g.mu.Unlock()
	return taken{g.writes, g.struck, g.back}
}

// verbs are what is written, by method.
var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// writeOf names what a request writes; empty if that is nothing. Events are told beside
// the work, at any time.
func writeOf(r *http.Request) string {
	verb, resource := verbs[r.Method], resourceOf(r.URL.Path)
	switch {
	case verb == "" || r.URL.Query().Has("dryRun"):
		return ""
	case resource == "events" || strings.HasSuffix(resource, "reviews"):
		return ""
	}
	return verb + " " + resource
}

// resourceOf is the resource, and the subresource, of a path of the API.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	start := 2 // api/v1
	if parts[0] == "apis" {
		start = 3
	}
	parts = parts[min(start, len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	switch len(parts) {
	case 0:
		return ""
	case 3:
		return parts[0] + "/" + parts[2]
	}
	return parts[0]
}

// serve lets requests through until the listener is closed.
func (g *gate) serve(l net.Listener, target *url.URL) *http.Server {
	server := &http.Server{Handler: g.handler(target), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // it ends when it is closed
	return server
}
