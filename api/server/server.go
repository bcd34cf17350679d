// Package server is the HTTP API: it shows proxies and add-ons from the cache of the
// objects, lends the proxies and writes what people want of the add-ons. It never asks a
// workflow, so it serves while Temporal is away.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/lease/desk"
)

// How long leases last where Options do not say.
const (
	DefaultMaxLeaseTTL = time.Hour
	DefaultLeaseTTL    = 5 * time.Minute
)

// Options of the API.
type Options struct {
	// Desk lends, or knows who does. Required.
	Desk *desk.Desk
	// Secrets reads the proxies' credentials at answer time. Required.
	Secrets client.Reader
	// Objects is where a wish for a new instance is written. Required.
	Objects Objects
	// Workflows are told what happened to the leases of a proxy. Required.
	Workflows Teller
	// Addons are served if it is not nil.
	Addons *Addons
	// Tokens say who may do what; nil lets everybody do everything.
	Tokens *Tokens
	// Log is required.
	Log *slog.Logger
	// MaxLeaseTTL is the longest lease that a client may ask for.
	MaxLeaseTTL time.Duration
	// DefaultLeaseTTL is what a client gets that does not ask; at most MaxLeaseTTL.
	DefaultLeaseTTL time.Duration
	// Clock is the wall clock if nil.
	Clock clock.PassiveClock
	// Metrics is where the API's metrics are registered and served from; nil for a
	// registry of its own.
	Metrics *prometheus.Registry
}

func (o Options) withDefaults() Options {
	if o.MaxLeaseTTL == 0 {
		o.MaxLeaseTTL = DefaultMaxLeaseTTL
	}
	if o.DefaultLeaseTTL == 0 {
		o.DefaultLeaseTTL = min(DefaultLeaseTTL, o.MaxLeaseTTL)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	return o
}

type server struct {
	Options

	fleet    *fleet
	locked   *locked
	failures *failures
	forward  forwarder
	metrics  metrics
	// reading has room for as many plans as may be in memory.
	reading chan struct{}
}

// API is the handler of the whole API.
type API struct {
	*chi.Mux
	server *server
}

// New returns the API. It knows no proxies before Watch.
func New(o Options) (*API, error) {
	if o.Desk == nil || o.Secrets == nil || o.Objects == nil || o.Workflows == nil || o.Log == nil {
		return nil, errors.New("the API needs a Desk, a Secrets reader, Objects, Workflows and a Log")
	}
	o = o.withDefaults()
	if o.DefaultLeaseTTL > o.MaxLeaseTTL {
		return nil, errors.New("the default TTL of leases exceeds their maximum: lower it")
	}
	s := &server{Options: o, fleet: newFleet(o.Desk), locked: &locked{clock: o.Clock}, failures: newFailures(o.Clock), metrics: newMetrics(), reading: make(chan struct{}, maxReading)}
	s.forward = s.newForwarder()
	if err := s.registerMetrics(); err != nil {
		return nil, err
	}
	if o.Tokens == nil {
		o.Log.Warn("WARNING: the API asks nobody for a token: whoever reaches it can lease every proxy with its credentials; give it a tokens file")
	}
	return &API{s.routes(), s}, nil
}

// Watch keeps the API up to date with the Proxies of a cache. It returns when it knows
// them all.
func (a *API) Watch(ctx context.Context, proxies Informers) error {
	if err := a.server.fleet.watch(ctx, proxies); err != nil {
		return fmt.Errorf("watch the Proxies: %w", err)
	}
	return nil
}

// Mount adds routes of somebody else, for which the API asks for a token as for its own.
func (a *API) Mount(routes func(chi.Router)) {
	a.Group(func(r chi.Router) {
		r.Use(a.server.authenticate)
		routes(r)
	})
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
		r.Get("/v1/proxies", s.lending(s.listProxies))
		r.Get("/v1/proxies/{namespace}/{name}", s.lending(s.getProxy))
		r.Post("/v1/proxies/{namespace}/{name}/replace", s.replace)
		r.Post("/v1/proxies/{namespace}/{name}/cooldowns", s.lending(s.rest))
		r.Delete("/v1/proxies/{namespace}/{name}/cooldowns", s.lending(s.clear))
		r.Get("/v1/leases", s.lending(s.listLeases))
		r.Post("/v1/leases", s.lending(s.acquire))
		r.Delete("/v1/leases/{id}", s.lending(s.release))
		r.Post("/v1/leases/{id}/renew", s.lending(s.renew))
		r.Post("/v1/leases/{id}/report", s.lending(s.report))
		r.Get("/v1/addons", s.withAddons(s.listAddons))
		r.Get("/v1/addons/{name}", s.withAddons(s.getAddon))
		r.Delete("/v1/addons/{name}", s.withAddons(s.deleteAddon))
		r.Get("/v1/addons/{name}/plan", s.withAddons(s.getPlan))
		r.Post("/v1/addons/{name}/sync", s.withAddons(s.syncAddon))
	})
	return r
}

type status struct {
	Status string `json:"status"`
}

// readyz says what is not ready, so that a person need not guess.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	if err := s.ready(); err != nil {
		refuse(w, r, http.StatusServiceUnavailable, "not_ready", err.Error())
		return
	}
	answer(w, r, http.StatusOK, status{"ready"})
}

// ready says whether requests can be answered, be it by the process that leads.
func (s *server) ready() error {
	if !s.fleet.known() {
		return errors.New("the cache of the objects is not filled yet")
	}
	_, err := s.Desk.Engine()
	var notLeading *desk.NotLeadingError
	switch {
	case errors.As(err, &notLeading) && notLeading.URL != "":
		return nil
	case errors.As(err, &notLeading):
		return notLeading
	case err != nil:
		return fmt.Errorf("leases cannot be kept now: %s", publicly(err))
	}
	return nil
}

// publicly is what everybody may know of err: whoever asks whether the API is ready needs no
// token, and most errors name paths and addresses.
func publicly(err error) string {
	var public interface{ Public() string }
	if errors.As(err, &public) {
		return public.Public()
	}
	return "the log of the API tells why"
}
