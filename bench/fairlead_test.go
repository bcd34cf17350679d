package bench

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process"
	"example.com/fairlead/activities/sweep"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/starter"
	"example.com/fairlead/worker"
)

// newManager makes a manager whose cache has one namespace, and tells all objects
// again after every resync; nil for the default.
func (w *world) newManager(namespace string, resync *time.Duration) manager.Manager {
	w.tb.Helper()
	mgr, err := ctrl.NewManager(w.rest, ctrl.Options{
		Scheme:  w.client.Scheme(),
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			ByObject:          starter.CacheByObject(),
			DefaultNamespaces: map[string]cache.Config{namespace: {}},
			SyncPeriod:        resync,
		},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)}, // several in one process
	})
	w.must("set up a manager", err)
	return mgr
}

// run runs what f runs until the benchmark ends.
func (w *world) run(what string, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	w.tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.tb.Errorf("%s ended with %v", what, err)
		}
	})
}

// registry reads a providers file; calls are told to c.
func (w *world) registry(file string, c *calls) *provider.Registry {
	w.tb.Helper()
	r, err := provider.Load(file, map[string]provider.Builder{
		process.Type: recorded(process.Builder(process.Options{ClusterID: w.clusterID, Command: selfCommand(w.tb, roleProxy)}), c),
	}, localtest.Quiet())
	w.must("read the providers file", err)
	return r
}

// endInstances leaves no process behind.
func endInstances(tb testing.TB, r *provider.Registry) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	for _, name := range r.Names() {
		p, err := r.Get(name)
		if err != nil {
			tb.Fatal(err)
		}
		all, err := p.List(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		for _, i := range all.Instances {
			if err := p.Delete(ctx, i.ID); err != nil {
				tb.Error(err)
			}
		}
	}
}

// runFairlead runs a starter and a worker, without Schedules and probes, on the
// objects of one namespace.
func (w *world) runFairlead(r *provider.Registry, resync *time.Duration) manager.Manager {
	w.tb.Helper()
	mgr := w.newManager(w.namespace, resync)
	signaller := &starter.Signaller{Temporal: w.temporal}
	w.must("set up the starter", starter.AddProxies(w.ctx, mgr, signaller))
	metrics, err := sweep.NewMetrics(prometheus.NewRegistry())
	w.must("make the metrics of sweeps", err)
	w.run("the starter", mgr.Start)
	w.run("the worker", func(ctx context.Context) error {
		return worker.Run(ctx, worker.Options{
			Temporal: w.temporal, Kubernetes: w.client, Providers: r, Log: localtest.Quiet(),
			Sweeps: &worker.SweepOptions{Cache: mgr.GetClient(), Workflows: signaller, Orphans: sweep.DefaultOrphans(), Metrics: metrics},
		})
	})
	_, err = mgr.GetCache().GetInformer(w.ctx, &crawl.Proxy{})
	w.must("fill the cache", err)
	return mgr
}

// wipe deletes objects of a namespace and waits until they are gone.
func (w *world) wipe(namespace string) {
	w.tb.Helper()
	w.must("delete the Proxies", w.client.DeleteAllOf(w.ctx, &crawl.Proxy{}, client.InNamespace(namespace)))
	eventually.Within(w.tb, "the Proxies are gone", patience, func() bool {
		var left crawl.ProxyList
		w.must("list Proxies", w.client.List(w.ctx, &left, client.InNamespace(namespace)))
		return len(left.Items) == 0
	})
}
