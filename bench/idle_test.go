package bench

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/activities/sweep"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/echo"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/worker"
)

// idle is a Ready proxy, and all that could disturb it.
type idle struct {
	*world
	proxy     *crawl.Proxy
	signaller *counted
	signals   *atomic.Int64
	sweeps    *sweep.Provider
	objects   *sweep.Objects
	wake      worker.WakeOptions
	probeURL  string
	calls     *calls
	// resyncs are how often the starter was told an object that had not changed.
	resyncs atomic.Int32
}

// counted is the signaller; it counts.
type counted struct {
	*starter.Signaller
	signals *atomic.Int64
}

func (c *counted) Changed(ctx context.Context, key wire.ProxyRef) error {
	c.signals.Add(1)
	return c.Signaller.Changed(ctx, key)
}

func (c *counted) Observed(ctx context.Context, key wire.ProxyRef) error {
	c.signals.Add(1)
	return c.Signaller.Observed(ctx, key)
}

func (c *counted) Health(ctx context.Context, key wire.ProxyRef, h wire.Health) error {
	c.signals.Add(1)
	return c.Signaller.Health(ctx, key, h)
}

// newIdle brings a proxy up by the parts that run in an installation.
func (w *world) newIdle() *idle {
	w.tb.Helper()
	i := &idle{world: w, signals: &atomic.Int64{}, calls: newCalls(), probeURL: w.echo()}
	file, _ := w.providersFile("process")
	r := w.registry(file, i.calls)
	w.tb.Cleanup(func() { endInstances(w.tb, r) })
	mgr := w.runFairlead(r, ptr.To(resyncQuick))
	i.countResyncs(mgr.GetCache())
	i.signaller = &counted{Signaller: &starter.Signaller{Temporal: w.temporal}, signals: i.signals}

	p, err := r.Get("process")
	w.must("find the provider", err)
	metrics, err := sweep.NewMetrics(prometheus.NewRegistry())
	w.must("make the metrics", err)
	i.sweeps = &sweep.Provider{
		Name: "process", Type: "process", Provider: p, Cache: mgr.GetClient(), Live: w.client,
		Workflows: i.signaller, Orphans: sweep.DefaultOrphans(), Metrics: metrics, Log: localtest.Quiet(),
	}
	i.objects = &sweep.Objects{Cache: mgr.GetClient(), Live: w.client, Workflows: i.signaller, Providers: r, Log: localtest.Quiet()}
	i.wake = worker.WakeOptions{Cache: mgr.GetClient(), Wake: i.signaller, Providers: r, Log: localtest.Quiet()}

	i.proxy = managed(w.namespace, "idle", "process")
	w.must("create a Proxy", w.client.Create(w.ctx, i.proxy))
	i.becomeReady(mgr.GetClient())
	return i
}

// echo serves the target of probes.
func (w *world) echo() (url string) {
	w.tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must("serve the echo target", err)
	w.run("the echo target", func(ctx context.Context) error { return echo.Serve(ctx, l) })
	return "http://" + l.Addr().String() + "/"
}

// becomeReady probes until the proxy is Ready and its workflow parks.
func (i *idle) becomeReady(cached client.Reader) {
	i.tb.Helper()
	ctx, cancel := context.WithCancel(i.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.Probe(ctx, worker.ProbeOptions{Cache: cached, Tell: i.signaller, DefaultURL: i.probeURL, Metrics: noMetrics{}, Log: localtest.Quiet()})
	}()
	eventually.Within(i.tb, "the proxy is Ready", patience, func() bool { return i.get(i.proxy).Status.IsTrue(crawl.ConditionReady) })
	cancel()
	<-ended
	eventually.Within(i.tb, "the workflow parks", patience, func() bool { return i.parks(ref.Of(i.proxy)) })
	i.proxy = i.get(i.proxy)
	eventually.Within(i.tb, "the caches are up to date", patience, func() bool {
		var p crawl.Proxy
		i.must("read a Proxy", cached.Get(i.ctx, client.ObjectKeyFromObject(i.proxy), &p))
		return p.ResourceVersion == i.proxy.ResourceVersion
	})
	i.signals.Store(0)
	i.resyncs.Store(0)
}

type noMetrics struct{}

func (noMetrics) Probed(string, string, probe.Result) {}
func (noMetrics) Forget(string, string)               {}

// countResyncs notes what the starter gets to see of its cache's resyncs.
func (i *idle) countResyncs(c cache.Cache) {
	i.tb.Helper()
	informer, err := c.GetInformer(i.ctx, &crawl.Proxy{})
	i.must("watch Proxies", err)
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(before, now any) {
		was, ok := before.(*crawl.Proxy)
		is, also := now.(*crawl.Proxy)
		if ok && also && was.ResourceVersion == is.ResourceVersion {
			i.resyncs.Add(1)
		}
	}})
	i.must("watch Proxies", err)
}

// resync waits for n resyncs of the running starter.
func (i *idle) resync(n int32) {
	i.tb.Helper()
	eventually.Within(i.tb, "the starter's cache resyncs", time.Duration(n)*resyncQuick+patience, func() bool { return i.resyncs.Load() >= n })
}
