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
	"github.com/go-chi/chi/v5/middleware"
)

const (
	maxBody         = 64 << 10
	requestIDHeader = "X-Request-Id"
)

var goodRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

type contextKey int

const (
	requestIDKey contextKey = iota
	callerKey
)

// identify gives each request an id, the client's own if it is a decent one.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !goodRequestID.MatchString(id) {
			id = rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// logRequests writes a line for each request: never a query, header or body, which
// may hold what is secret.
func (s *server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		who := &caller{}
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r = r.WithContext(context.WithValue(r.Context(), callerKey, who))
		defer func() {
			s.Log.LogAttrs(r.Context(), levelOf(r, ww.Status()), "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.String("route", chi.RouteContext(r.Context()).RoutePattern()),
				slog.Int("status", ww.Status()), slog.Int("bytes", ww.BytesWritten()),
				slog.Duration("took", time.Since(start)), slog.String("remote", r.RemoteAddr),
				slog.String("client", who.name), slog.String("requestID", requestID(r.Context())))
		}()
		next.ServeHTTP(ww, r)
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
			if ww, ok := w.(middleware.WrapResponseWriter); ok && ww.Status() != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			refuse(w, r, http.StatusInternalServerError, "internal", "something broke: the log of the API tells more under this request id")
		}()
		next.ServeHTTP(w, r)
	})
}

func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}
