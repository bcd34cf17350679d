package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/api/crawl/ref"
	"example.com/fairlead/internal/eventually"
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
