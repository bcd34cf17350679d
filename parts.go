package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	temporalclient "go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fairlead/activities/object"
	"example.com/fairlead/activities/probe"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/kubernetes"
	"example.com/fairlead/activities/provider/process"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/starter"
	"example.com/fairlead/worker"
)

// settings are what the parts of one process share.
type settings struct {
	rest     *rest.Config
	temporal temporalclient.Client
	log      *slog.Logger

	providersFile   string
	defaultProbeURL string
	leaderElect     bool

	api apiSettings
}

func defaultSettings() settings {
	return settings{log: slog.Default(), api: defaultAPISettings()}
}

func (s *settings) addProviderFlags(f *pflag.FlagSet) {
	f.StringVar(&s.providersFile, "providers", "providers.yaml", "providers `file`; it is read again when it changes")
	f.StringVar(&s.defaultProbeURL, "default-probe-url", "", "`URL` that is fetched through proxies whose healthCheck names none")
}

// parts are what one process runs, on one cache of the objects.
type parts struct {
	settings
	mgr manager.Manager
	// metrics of this process.
	metrics *prometheus.Registry
	// registry is nil until the first part that needs it.
	registry *provider.Registry
}

// adder puts one part of Fairlead on the manager.
type adder func(p *parts, ctx context.Context) error

// run runs parts until ctx ends.
func run(ctx context.Context, s settings, add ...adder) error {
	s.log = slog.Default()
	mgr, err := newManager(ctx, s)
	if err != nil {
		return err
	}
	p := &parts{settings: s, mgr: mgr, metrics: prometheus.NewRegistry()}
	for _, a := range add {
		if err := a(p, ctx); err != nil {
			return err
		}
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// newManager keeps trying until the API server answers: one that is not up yet is a
// reason to wait, not to crash.
func newManager(ctx context.Context, s settings) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, crawl.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the API types: %w", err)
		}
	}
	byObject := starter.CacheByObject()
	byObject[&corev1.Secret{}] = cache.ByObject{Label: labels.SelectorFromSet(labels.Set{crawl.LabelCloudInit: "true"})}
	grace := 30 * time.Second
	options := manager.Options{
		Scheme:                  scheme,
		Cache:                   cache.Options{ByObject: byObject},
		Metrics:                 server.Options{BindAddress: "0"}, // the api serves them
		LeaderElection:          s.leaderElect,
		LeaderElectionID:        "fairlead-starter",
		GracefulShutdownTimeout: &grace,
	}
	for {
		mgr, err := ctrl.NewManager(s.rest, options)
		if err == nil {
			return mgr, nil
		}
		s.log.Warn("the Kubernetes API does not answer yet, trying again", "address", s.rest.Host, "error", err)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to the Kubernetes API at %s: %w", s.rest.Host, err)
		case <-time.After(2 * time.Second):
		}
	}
}

// anyReplica is a part that runs in each replica, not only in the leader's.
type anyReplica func(ctx context.Context) error

func (f anyReplica) Start(ctx context.Context) error { return f(ctx) }
func (anyReplica) NeedLeaderElection() bool          { return false }

func (p *parts) addStarter(ctx context.Context) error {
	providers, err := p.providers(ctx)
	if err != nil {
		return err
	}
	return starter.Add(ctx, p.mgr, &starter.Signaller{Temporal: p.temporal, Log: p.log}, providers)
}

func (p *parts) addWorker(ctx context.Context) error {
	live, err := p.live()
	if err != nil {
		return err
	}
	providers, err := p.providers(ctx)
	if err != nil {
		return err
	}
	work := worker.Options{Temporal: p.temporal, Kubernetes: live, Providers: providers, Log: p.log}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error { return worker.Run(ctx, work) })); err != nil {
		return fmt.Errorf("add the worker: %w", err)
	}
	vectors, err := probe.NewVectors(p.metrics)
	if err != nil {
		return err
	}
	probes := worker.ProbeOptions{
		Cache:      p.mgr.GetClient(),
		Tell:       &starter.Signaller{Temporal: p.temporal, Log: p.log},
		DefaultURL: p.defaultProbeURL,
		Metrics:    vectors,
		Log:        p.log,
	}
	if err := p.mgr.Add(anyReplica(func(ctx context.Context) error {
		worker.Probe(ctx, probes)
		return nil
	})); err != nil {
		return fmt.Errorf("add the prober: %w", err)
	}
	return nil
}

// live is a client past the cache.
func (p *parts) live() (client.Client, error) {
	c, err := client.New(p.mgr.GetConfig(), client.Options{Scheme: p.mgr.GetScheme(), Mapper: p.mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	return c, nil
}

// providers reads the providers file once, and follows it.
func (p *parts) providers(ctx context.Context) (*provider.Registry, error) {
	if p.registry != nil {
		return p.registry, nil
	}
	live, err := p.live()
	if err != nil {
		return nil, err
	}
	id, err := object.ClusterID(ctx, live)
	if err != nil {
		return nil, err
	}
	p.registry, err = provider.Load(p.providersFile, map[string]provider.Builder{
		process.Type:    process.Builder(process.Options{ClusterID: id}),
		kubernetes.Type: kubernetes.Builder(p.rest, id),
	}, p.log)
	if err != nil {
		return nil, err
	}
	if err := p.mgr.Add(anyReplica(p.registry.Follow)); err != nil {
		return nil, fmt.Errorf("follow the providers file: %w", err)
	}
	return p.registry, nil
}
