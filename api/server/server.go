// Package server is the HTTP API: it shows proxies from the cache of the objects
// and lends them. It never asks a workflow, so it serves while Temporal is away.
package server

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/lease"
)

// How long leases last where Options do not say.
const (
	DefaultMaxLeaseTTL = time.Hour
	DefaultLeaseTTL    = 5 * time.Minute
)

// Options of the API.
type Options struct {
	// Reader reads Proxy objects, from a cache. Required.
	Reader client.Reader
	// Secrets reads the proxies' credentials at answer time. Required.
	Secrets client.Reader
	// Objects is where a wish for a new instance is written. Required.
	Objects Objects
	// Store lends. Required.
	Store *lease.Store
	// Drained is told when the last lease of a draining proxy ended. Required by
	// TellDrained only.
	Drained Teller
	// Tokens say who may do what; nil lets everybody do everything.
	Tokens *Tokens
	// Log is required.
	Log *slog.Logger
	// MaxLeaseTTL is the longest lease that a client may ask for.
	MaxLeaseTTL time.Duration
	// DefaultLeaseTTL is what a client gets that does not ask; at most MaxLeaseTTL.
	DefaultLeaseTTL time.Duration
	// Ready says what is not ready yet; nil for always ready.
	Ready func() error
	// Metrics is where the API's metrics are registered and served from; nil for a
	// registry of its own.
	Metrics *prometheus.Registry
}

type server struct {
	Options

	fleet   *fleet
	granted *prometheus.CounterVec
}

// API is the handler of the whole API.
type API struct {
	*chi.Mux
	server *server
}

// New returns the API.
func New(o Options) (*API, error) {
	if o.Reader == nil || o.Secrets == nil || o.Objects == nil || o.Store == nil || o.Log == nil {
		return nil, errors.New("the API needs a Reader, a Secrets reader, Objects, a Store and a Log")
	}
	if o.MaxLeaseTTL == 0 {
		o.MaxLeaseTTL = DefaultMaxLeaseTTL
	}
	if o.DefaultLeaseTTL == 0 {
		o.DefaultLeaseTTL = min(DefaultLeaseTTL, o.MaxLeaseTTL)
	}
	if o.DefaultLeaseTTL > o.MaxLeaseTTL {
		return nil, errors.New("the default TTL of leases exceeds their maximum: lower it")
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	s := &server{Options: o, fleet: &fleet{reader: o.Reader, store: o.Store}}
	if err := s.registerMetrics(); err != nil {
		return nil, err
	}
	if o.Tokens == nil {
		o.Log.Warn("WARNING: the API asks nobody for a token: whoever reaches it can lease every proxy with its credentials; give it a tokens file")
	}
	return &API{s.routes(), s}, nil
}

func (s *server) routes() *chi.Mux {
	r := chi.NewRouter()
	r.Use(identify, s.logRequests, s.recoverPanics, checkQuery, limitBody, middleware.GetHead)
	r.NotFound(notFound)
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/healthz", func(w http.ResponseWriter, r *http.Request) { answer(w, r, http.StatusOK, status{"ok"}) })
	r.Get("/readyz", s.readyz)
	r.Get("/openapi.yaml", openAPI)
	r.Group(func(r chi.Router) {
		r.Use(s.authenticate)
		r.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{}))
		r.Get("/v1/proxies", s.listProxies)
		r.Get("/v1/proxies/{namespace}/{name}", s.getProxy)
		r.Post("/v1/proxies/{namespace}/{name}/replace", s.replace)
		r.Get("/v1/leases", s.listLeases)
		r.Post("/v1/leases", s.acquire)
		r.Delete("/v1/leases/{id}", s.release)
		r.Post("/v1/leases/{id}/renew", s.renew)
		r.Post("/v1/leases/{id}/report", s.report)
	})
	return r
}

type status struct {
	Status string `json:"status"`
}

// readyz says what is not ready, so that a person need not guess.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			refuse(w, r, http.StatusServiceUnavailable, "not_ready", err.Error())
			return
		}
	}
	answer(w, r, http.StatusOK, status{"ready"})
}
