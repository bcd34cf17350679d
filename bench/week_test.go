package bench

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
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

const (
	week = 7 * 24 * time.Hour
	// sweepEvery is the default time between two sweeps of a provider, and that between
	// two of the objects.
	sweepEvery = time.Minute
	// resyncEvery is how often controller-runtime's caches tell all objects again.
	resyncEvery = 10 * time.Hour
	// resyncQuick is how often they do here: less than a second is too little for client-go.
	resyncQuick = 1200 * time.Millisecond
	// lookEvery is how often the worker compares the Proxies with the providers file.
	lookEvery = 10 * time.Minute
)

// BenchmarkProxyWeek leaves one Ready proxy alone, and runs all that would run in a
// week: sweeps of its provider and of the objects, probes, resyncs of the starter's
// cache, looks at the providers file. What they signal goes to the real workflow.
func BenchmarkProxyWeek(b *testing.B) {
	w := newWorld(b)
	idle := w.newIdle()
	id := wire.ProxyID(ref.Of(idle.proxy))
	before, err := markOf(w.ctx, w.temporal, id)
	w.must("look at the workflow", err)
	span := time.Duration(*weekSize * float64(week))
	for b.Loop() {
		idle.sweep(int(span / sweepEvery))
		probes, told := idle.probe(span, steady(), idle.report)
		idle.lookAtProviders(int(span / lookEvery))
		idle.resync(int32(span/resyncEvery) + 1)
		events, err := since(w.ctx, w.temporal, id, before)
		w.must("read the history", err)
		_, spikes := idle.probe(span, spiky(), untold)

		b.ReportMetric(0, "ns/op") // of a simulation: says nothing
		b.ReportMetric(float64(len(events)), "events/proxy-week")
		b.ReportMetric(float64(idle.signals.Load()), "signals/proxy-week")
		b.ReportMetric(float64(probes), "probes/proxy-week")
		b.ReportMetric(float64(spikes), "signals/spiky-week")
		if len(events) > 0 || told > 0 {
			b.Errorf("an idle proxy got %d events, %d verdicts", len(events), told)
		}
	}
	// Were it not, nothing would have been measured.
	w.must("signal the workflow", idle.signaller.Changed(w.ctx, ref.Of(idle.proxy)))
	eventually.Within(w.tb, "a signal shows in the history", patience, func() bool {
		events, err := since(w.ctx, w.temporal, id, before)
		w.must("read the history", err)
		return len(events) > 0
	})
}

// untold takes a verdict to nobody.
func untold(context.Context, probe.Transition) error { return nil }

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

// sweep runs n sweeps of the provider and n of the objects, a minute apart by their
// clock.
func (i *idle) sweep(n int) {
	i.tb.Helper()
	now := time.Now()
	i.sweeps.Now = func() time.Time { return now }
	for range n {
		now = now.Add(sweepEvery)
		seen, err := i.sweeps.Sweep(i.ctx, wire.SweepInput{Provider: i.sweeps.Name})
		i.must("sweep the provider", err)
		if want := (wire.Sweep{Instances: 1, Proxies: 1, KillBudget: i.sweeps.Orphans.KillBudget}); !cmp.Equal(seen, want) {
			i.tb.Fatalf("a sweep of one idle proxy: %s", cmp.Diff(want, seen))
		}
		all, err := i.objects.Sweep(i.ctx)
		i.must("sweep the objects", err)
		if want := (wire.ObjectSweepResult{Objects: 1}); !cmp.Equal(all, want) {
			i.tb.Fatalf("a sweep of all objects: %s", cmp.Diff(want, all))
		}
	}
	if lists := i.calls.of("List"); lists != n {
		i.tb.Errorf("%d sweeps took %d listings", n, lists)
	}
}

// lookAtProviders lets the worker compare the Proxies with the providers file.
func (i *idle) lookAtProviders(n int) {
	ctx, cancel := context.WithCancel(i.ctx)
	defer cancel()
	looks := 0
	o := i.wake
	o.After = func(time.Duration) <-chan time.Time {
		now := make(chan time.Time, 1)
		if looks++; looks > n {
			cancel()
		} else {
			now <- time.Time{}
		}
		return now
	}
	worker.WakeMoved(ctx, o)
}

// latency of a probe, where told is what the object tells.
type latency func(told time.Duration) time.Duration

// steady latencies stay within 20 ms of what was told.
func steady() latency {
	draw := rand.New(rand.NewPCG(1, 1))
	return func(told time.Duration) time.Duration {
		return max(told+time.Duration(float64(20*time.Millisecond)*(2*draw.Float64()-1)), time.Millisecond)
	}
}

// spiky ones are so too, but that one in a hundred takes a fifth of a second more.
func spiky() latency {
	draw, rest := rand.New(rand.NewPCG(2, 2)), steady()
	return func(told time.Duration) time.Duration {
		if draw.IntN(100) == 0 {
			return told + 200*time.Millisecond
		}
		return rest(told)
	}
}

// report sends a verdict to the workflow, as the worker does.
func (i *idle) report(ctx context.Context, t probe.Transition) error {
	return i.signaller.Health(ctx, ref.Of(i.proxy), wire.Health{
		Incarnation: t.Incarnation, Healthy: t.Healthy, Verdict: string(t.Verdict), Message: t.Message,
		LatencyMillis: t.Latency.Milliseconds(), ExitIP: t.ExitIP, ProbedAt: t.At,
	})
}

// probe lets the engine probe for a span of its clock; what it has to tell goes to
// report.
func (i *idle) probe(span time.Duration, took latency, report func(context.Context, probe.Transition) error) (probes, told int) {
	i.tb.Helper()
	target, ok := probe.TargetOf(i.proxy, probe.Secrets{}, i.probeURL)
	if !ok {
		i.tb.Fatal("there is nothing to probe")
	}
	clock, ticked := clocktesting.NewFakeClock(time.Now()), make(chan struct{})
	var done, reports atomic.Int64
	e := probe.New(probe.Options{
		Clock: clock,
		Targets: func(ctx context.Context) ([]probe.Target, error) {
			select {
			case ticked <- struct{}{}:
			case <-ctx.Done():
			}
			return []probe.Target{target}, nil
		},
		Jitter: func() float64 { return 0 },
		Probe: func(context.Context, probe.Target) probe.Result {
			defer done.Add(1)
			return probe.Result{Verdict: probe.Healthy, Latency: took(target.Published.Latency), ExitIP: target.Published.ExitIP}
		},
		Report: func(ctx context.Context, t probe.Transition) error {
			reports.Add(1)
			return report(ctx, t)
		},
	})
	ctx, cancel := context.WithCancel(i.ctx)
	defer cancel()
	var ended sync.WaitGroup
	ended.Go(func() { e.Run(ctx) })
	<-ticked
	for gone := time.Duration(0); gone < span; gone += probe.DefaultTick {
		if gone%target.Check.Interval == 0 { // the clock must not run away from a probe
			waitBriefly(func() bool { return done.Load() > int64(gone/target.Check.Interval) })
		}
		clock.Step(probe.DefaultTick)
		<-ticked
	}
	cancel()
	ended.Wait()
	return int(done.Load()), int(reports.Load())
}

// waitBriefly waits for what nearly always comes within microseconds.
func waitBriefly(ok func() bool) {
	for deadline := time.Now().Add(10 * time.Millisecond); !ok() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Microsecond)
	}
}
