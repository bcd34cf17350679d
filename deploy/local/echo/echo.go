// Package echo is the probe target of the local stack: it answers with the
// address that a request came from, so that a proxy's exit address can be seen.
package echo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	headerTimeout   = 5 * time.Second
	shutdownTimeout = 3 * time.Second
)

// seen is what /json answers.
type seen struct {
	Address string      `json:"address"`
	Method  string      `json:"method"`
	Host    string      `json:"host"`
	Headers http.Header `json:"headers"`
}

// Handler answers any path with the caller's IP address and a newline, and /json
// with what it saw of the request. The address is that of the connection; headers
// such as X-Forwarded-For are a claim, not an address.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/json", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A caller that has gone away needs no answer.
		_ = json.NewEncoder(w).Encode(seen{Address: caller(r), Method: r.Method, Host: r.Host, Headers: r.Header})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, caller(r)) // #nosec G705 -- an address as plain text
	})
	return mux
}

// Beside is what a target has below a path, where it echoes nothing.
type Beside struct {
	Path    string
	Handler http.Handler
}

// Serve answers on l until ctx ends. It closes l.
func Serve(ctx context.Context, l net.Listener, others ...Beside) error {
	mux := http.NewServeMux()
	mux.Handle("/", Handler())
	for _, other := range others {
		mux.Handle(other.Path, http.StripPrefix(strings.TrimSuffix(other.Path, "/"), other.Handler))
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the echo target on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	soft, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(soft); err != nil {
		return errors.Join(fmt.Errorf("stop the echo target on %s: %w", l.Addr(), err), server.Close())
	}
	return nil
}

// caller is the IP address of the peer.
func caller(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
