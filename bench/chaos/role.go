package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	temporalclient "go.temporal.io/sdk/client"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/provider/process/forward/forwardtest"
	"example.com/fairlead/activities/sweep"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/worker"
)

// The roles that the program plays as its own child.
const (
	roleWorker  = "chaos-worker"
	roleStarter = "chaos-starter"
	roleProxy   = "chaos-proxy"
)

// roleSettings are what a worker and a starter work with.
type roleSettings struct {
	Seed       uint64
	Kubeconfig string
	// Temporal is the address of the server.
	Temporal  string
	Namespace string
	// Providers is the providers file.
	Providers string
	CallLog   string
	// ProbeURL is what is fetched through the proxies.
	ProbeURL string
	// Owner is the pid of the program that is not to be outlived.
	Owner int
}

// playRole plays the role that the arguments name; it plays none when played is false.
func playRole(args []string) (code int, played bool) {
	if len(args) < 3 {
		return 0, false
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	switch args[1] {
	case roleWorker:
		err = playPart(ctx, args[2], addWorker)
	case roleStarter:
		err = playPart(ctx, args[2], addStarter)
	case roleProxy:
		err = runProxy(ctx, args[2], args[3:])
	default:
		return 0, false
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1, true
	}
	return 0, true
}

// runProxy is `fairlead proxy`, but that it does not outlive the program that the
// whole run belongs to.
func runProxy(ctx context.Context, owner string, args []string) error {
	if err := forwardtest.FollowOwner(owner); err != nil {
		return err
	}
	return forwardtest.Run(ctx, args)
}

// part is what a worker and a starter are made of.
type part struct {
	roleSettings
	// live reads past the cache that mgr has.
	live      client.Client
	mgr       manager.Manager
	temporal  temporalclient.Client
	signaller *starter.Signaller
	cluster   string
	log       *slog.Logger
}

func playPart(ctx context.Context, file string, add func(context.Context, *part) error) error {
	p := &part{log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	slog.SetDefault(p.log)
	ctrl.SetLogger(logr.FromSlogHandler(p.log.Handler()))
	data, err := os.ReadFile(file) // #nosec G304 G703 -- named by the program itself
	if err != nil {
		return fmt.Errorf("read the settings of the role: %w", err)
	}
	if err := json.Unmarshal(data, &p.roleSettings); err != nil {
		return fmt.Errorf("read the settings of the role: %w", err)
	}
	rest, err := kube.Load(p.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme, err := kube.Scheme()
	if err != nil {
		return err
	}
	if p.live, err = client.New(rest, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("set up the client of the Kubernetes API: %w", err)
	}
	p.mgr, err = ctrl.NewManager(rest, ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: starter.CacheByObject()}, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if p.temporal, err = conn.Dial(ctx, conn.Options{Address: p.Temporal, Namespace: p.Namespace, Log: p.log}); err != nil {
		return err
	}
	defer p.temporal.Close()
	p.signaller = &starter.Signaller{Temporal: p.temporal}
	err = insist(ctx, "read the cluster's identity", func(ctx context.Context) error {
		var err error
		p.cluster, err = desired.Cluster("").ID(ctx, p.live)
		return err
	})
	if err != nil {
		return err
	}
	if err := add(ctx, p); err != nil {
		return err
	}
	return p.mgr.Start(ctx)
}

// addWorker is `fairlead worker` on providers whose calls go wrong. Its sweeps delete
// no orphan, and do not look for any.
func addWorker(_ context.Context, p *part) error {
	providers, err := p.faultyProviders()
	if err != nil {
		return err
	}
	metrics, err := sweep.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		return err
	}
	work := worker.Options{
		Temporal: p.temporal, Kubernetes: p.live, Providers: providers, Log: p.log,
		Sweeps: &worker.SweepOptions{Cache: p.mgr.GetClient(), Workflows: p.signaller, Orphans: sweep.Orphans{Mode: sweep.Off}, Metrics: metrics},
	}
	probes := worker.ProbeOptions{Cache: p.mgr.GetClient(), Tell: p.signaller, DefaultURL: p.ProbeURL, Log: p.log}
	return errors.Join(
		p.mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return worker.Run(ctx, work) })),
		p.mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			worker.Probe(ctx, probes)
			return nil
		})),
	)
}

func (p *part) faultyProviders() (*provider.Registry, error) {
	calls, err := openCallLog(p.CallLog)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program that runs proxies: %w", err)
	}
	inner := process.Builder(process.Options{ClusterID: p.cluster, Command: []string{self, roleProxy, strconv.Itoa(p.Owner)}})
	build := func(name string, settings json.RawMessage) (provider.Provider, error) {
		inside, err := inner(name, settings)
		if err != nil {
			return nil, err
		}
		return &injector{Provider: inside, name: name, seed: p.Seed, calls: calls, live: p.live}, nil
	}
	return provider.Load(p.Providers, map[string]provider.Builder{process.Type: build}, p.log)
}

// addStarter is `fairlead starter` without its election, as two of them may run, and
// without Schedules: the run starts sweeps by itself.
func addStarter(ctx context.Context, p *part) error {
	return starter.AddProxies(ctx, p.mgr, p.signaller)
}
