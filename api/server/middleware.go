package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
)

const (
	maxBody         = 64 << 10
	requestIDHeader = "X-Request-Id"
)

var goodRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// call is one request: who makes it, and what was answered so far.
type call struct {
	http.ResponseWriter

	id     string
	caller caller
	status int
	bytes  int
}

type callKey struct{}

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(code int) {
	if c.status == 0 {
		c.status = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (c *call) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// identify gives each request an id, the client's own if it is a decent one.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{ResponseWriter: w, id: r.Header.Get(requestIDHeader)}
		if c.id == "" || !goodRequestID.MatchString(c.id) {
			c.id = rand.Text()
		}
		w.Header().Set(requestIDHeader, c.id)
		next.ServeHTTP(c, withValue(r, callKey{}, c))
	})
}

func withValue(r *http.Request, key, value any) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), key, value))
}

func requestID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id
	}
	return ""
}

func callerOf(r *http.Request) *caller {
	if c, ok := r.Context().Value(callKey{}).(*call); ok {
		return &c.caller
	}
	return &caller{}
}

// logRequests writes a line for each request: never a query, header or body, which
// may hold what is secret.
func (s *server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		defer func() {
			c, ok := r.Context().Value(callKey{}).(*call)
			if !ok {
				return
			}
			level := levelOf(r, c.status)
			if !s.Log.Enabled(r.Context(), level) {
				return
			}
			s.Log.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.String("route", chi.RouteContext(r.Context()).RoutePattern()),
				slog.Int("status", c.status), slog.Int("bytes", c.bytes),
				slog.Duration("took", time.Since(start)), slog.String("remote", r.RemoteAddr),
				slog.String("client", c.caller.name), slog.String("requestID", c.id))
		}()
		next.ServeHTTP(w, r)
	})
}

// levelOf keeps the questions of probes and scrapers out of the usual log.
func levelOf(r *http.Request, code int) slog.Level {
	switch {
	case code >= http.StatusInternalServerError:
		return slog.LevelWarn
	case r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics":
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// recoverPanics answers 500 and goes on serving.
func (s *server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			what := recover()
			if what == nil {
				return
			}
			if err, ok := what.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(what)
			}
			s.Log.ErrorContext(r.Context(), "panic while serving", "panic", what, "path", r.URL.Path,
				"requestID", requestID(r.Context()), "stack", string(debug.Stack()))
			if c, ok := w.(*call); ok && c.status != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			refuse(w, r, http.StatusInternalServerError, "internal", "something broke: the log of the API tells more under this request id")
		}()
		next.ServeHTTP(w, r)
	})
}

func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 || r.ContentLength > maxBody { // else net/http gives no more than it says
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
	})
}
