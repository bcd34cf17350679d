package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	temporalclient "go.temporal.io/sdk/client"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/drain"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/kubernetes"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/starter"
)

// settings are what the parts of one process share.
type settings struct {
	rest     *rest.Config
	temporal temporalclient.Client
	log      *slog.Logger

	providersFile   string
	defaultProbeURL string
	legacyFinalizer string
	leases          drain.Options

	// cluster is what the objects and their instances belong to.
	cluster desired.Cluster

	manager managerSettings
	api     apiSettings
	sweeps  sweepSettings
	addons  addonSettings
	// onPolling, if set, is called once the worker serves all its queues.
	onPolling func()
}

func defaultSettings() settings {
	return settings{api: defaultAPISettings(), sweeps: defaultSweepSettings(), addons: defaultAddonSettings()}
}

func (s *settings) addProvidersFile(f *pflag.FlagSet) {
	f.StringVar(&s.providersFile, "providers", "providers.yaml", "providers `file`; it is read again when it changes")
}

func (s *settings) addProviderFlags(f *pflag.FlagSet) {
	s.addProvidersFile(f)
	f.StringVar(&s.defaultProbeURL, "default-probe-url", "", "`URL` that is fetched through proxies whose healthCheck names none")
	f.StringVar(&s.legacyFinalizer, "legacy-finalizer", "", "`finalizer` of the operator that managed the Proxies before; it is taken off with Fairlead's own")
}

// addClusterFlag is for the part that makes instances.
func addClusterFlag(f *pflag.FlagSet, cluster *desired.Cluster) {
	f.StringVar((*string)(cluster), "cluster-id", "", "`identity` of the cluster, which its instances carry (default: the UID of namespace kube-system); give the former one where a backup was restored")
}

// addLeaseFlags are for the part that waits for leases.
func (s *settings) addLeaseFlags(f *pflag.FlagSet) {
	f.StringVar(&s.leases.URL, drain.FlagURL, "", "`URL` of the HTTP API, which knows the leases; without it a replacement waits the whole drainTimeout")
	f.StringVar(&s.leases.TokenFile, drain.FlagTokenFile, "", "`file` with a token for it, of scope read; it is read for each call")
}

// parts are what one process runs, on one cache of the objects.
type parts struct {
	settings
	mgr manager.Manager
	// live reads and writes past the cache.
	live      client.Client
	clusterID string
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
	scheme, err := kube.Scheme()
	if err != nil {
		return err
	}
	p := &parts{settings: s}
	if p.metrics, err = processMetrics(); err != nil {
		return err
	}
	if p.live, err = client.New(s.rest, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	if p.clusterID, err = awaitCluster(ctx, s, p.live); err != nil {
		return err
	}
	if p.mgr, err = newManager(ctx, s, scheme, p.live); err != nil {
		return err
	}
	for _, a := range add {
		if err := a(p, ctx); err != nil {
			return err
		}
	}
	if err := p.mgr.Start(ctx); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

const (
	apiAnswers    = 5 * time.Second
	firstAPIPause = 500 * time.Millisecond
	maxAPIPause   = 15 * time.Second
)

// awaitCluster returns the cluster's identity. An API server that is not up yet is
// a reason to wait, not to crash.
func awaitCluster(ctx context.Context, s settings, live client.Reader) (string, error) {
	for pause := firstAPIPause; ; pause = min(2*pause, maxAPIPause) {
		attempt, cancel := context.WithTimeout(ctx, apiAnswers)
		id, err := s.cluster.ID(attempt, live)
		cancel()
		if err == nil {
			return id, nil
		}
		s.log.Warn("the Kubernetes API does not answer yet, trying again", "address", s.rest.Host, "in", pause, "error", err)
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("connect to the Kubernetes API at %s: %w", s.rest.Host, err)
		case <-time.After(pause):
		}
	}
}

// anyReplica is a part that runs in each replica, not only in the leader's.
type anyReplica func(ctx context.Context) error

func (f anyReplica) Start(ctx context.Context) error { return f(ctx) }
func (anyReplica) NeedLeaderElection() bool          { return false }

func (p *parts) addStarter(ctx context.Context) error {
	signaller := &starter.Signaller{Temporal: p.temporal}
	if p.manager.keepsProxies() {
		if err := starter.AddProxies(ctx, p.mgr, signaller); err != nil {
			return err
		}
	}
	if p.manager.keepsAddons() {
		if err := starter.AddAddons(ctx, p.mgr, signaller); err != nil {
			return err
		}
	}
	return p.addSchedules()
}

// builders are the types of providers.
func (p *parts) builders() map[string]provider.Builder {
	return map[string]provider.Builder{
		process.Type:    process.Builder(process.Options{ClusterID: p.clusterID}),
		kubernetes.Type: kubernetes.Builder(p.rest, p.clusterID),
	}
}

// providers reads the providers file once, and follows it.
func (p *parts) providers() (*provider.Registry, error) {
	if p.registry != nil {
		return p.registry, nil
	}
	var err error
	if p.registry, err = provider.Load(p.providersFile, p.builders(), p.log); err != nil {
		return nil, err
	}
	if err := p.mgr.Add(anyReplica(p.registry.Follow)); err != nil {
		return nil, fmt.Errorf("follow the providers file: %w", err)
	}
	return p.registry, nil
}
