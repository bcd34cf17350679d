package bench

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
)

const (
	day = 24 * time.Hour
	// fleetSize proxies on three providers.
	fleetSize = 100
	// scheduledRuns is how many executions of each Schedule are read.
	scheduledRuns = 5
)

var fleetProviders = []string{"one", "two", "three"}

// BenchmarkFleetDay counts what a day of 100 idle proxies on 3 providers costs in
// Temporal's Actions: it lets the starter make its Schedules, reads the histories of a
// few runs of each, and multiplies by how often each runs in a day. What the proxies'
// own workflows and heartbeats cost meanwhile is counted too.
func BenchmarkFleetDay(b *testing.B) {
	w := newWorld(b)
	heartbeats := w.countHeartbeats()
	f := w.newFleet(newCalls(), fleetProviders...)
	f.seed(fleetSize, func(i int) string { return fleetProviders[i%len(fleetProviders)] })
	f.live()
	f.runFairlead(f.registry, nil)
	f.park()
	f.each("wait until a workflow parks", func(i int) error {
		eventually.Within(f.tb, "a workflow parks", patience, func() bool { return f.parks(ref.Of(f.proxies[i])) })
		return nil
	})
	before := f.marks()
	for b.Loop() {
		start, beats := time.Now(), heartbeats.Load()
		w.run("the Schedules", (&starter.Schedules{Temporal: w.temporal, Providers: f.registry, Every: sweepEvery, Log: localtest.Quiet()}).Start)
		perDay, runs := 0.0, 0
		for _, id := range append([]string{wire.SweepObjectsID}, wire.SweepID("one"), wire.SweepID("two"), wire.SweepID("three")) {
			perRun, every := f.scheduled(id)
			perDay += perRun * float64(day/every)
			runs += int(day / every)
		}
		own := 0
		for i, p := range f.proxies {
			events, err := since(w.ctx, w.temporal, wire.ProxyID(ref.Of(p)), before[i])
			w.must("read a history", err)
			own += actionsOf(events)
		}
		inADay := float64(day) / float64(time.Since(start))
		perDay += float64(own) * inADay

		b.ReportMetric(0, "ns/op") // of a few minutes: says nothing
		b.ReportMetric(perDay, "actions/day")
		b.ReportMetric(float64(runs), "scheduled-runs/day")
		b.ReportMetric(float64(own), "proxy-actions")
		b.ReportMetric(float64(heartbeats.Load()-beats)*inADay, "heartbeats/day")
		b.ReportMetric(f.flip(), "actions/flip")
		b.ReportMetric(f.lifecycle(), "actions/lifecycle")
	}
}

// countHeartbeats counts the heartbeats of activities that reach Temporal.
func (w *world) countHeartbeats() *atomic.Int64 {
	w.tb.Helper()
	var beats atomic.Int64
	count := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if strings.HasSuffix(method, "/RecordActivityTaskHeartbeat") {
			beats.Add(1)
		}
		return invoke(ctx, method, req, reply, cc, o...)
	}
	w.temporal = localtest.DialTemporal(w.tb, w.temporalAddress, w.temporalNamespace, func(o *temporalclient.Options) {
		o.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(count)}
	})
	return &beats
}

// marks are how far the workflow of each proxy has come.
func (f *fleet) marks() []mark {
	f.tb.Helper()
	all := make([]mark, len(f.proxies))
	f.each("look at a workflow", func(i int) (err error) {
		all[i], err = markOf(f.ctx, f.temporal, wire.ProxyID(ref.Of(f.proxies[i])))
		return err
	})
	return all
}

// scheduled returns what a run of a Schedule costs, as the mean of a few, and how
// often the Schedule runs.
func (f *fleet) scheduled(id string) (actionsPerRun float64, every time.Duration) {
	f.tb.Helper()
	schedule := f.temporal.ScheduleClient().GetHandle(f.ctx, id)
	var is *temporalclient.ScheduleDescription
	done := func() []temporalclient.ScheduleActionResult {
		var err error
		is, err = schedule.Describe(f.ctx)
		if err != nil || len(is.Info.RunningWorkflows) > 0 {
			return nil
		}
		return is.Info.RecentActions
	}
	eventually.Within(f.tb, "Schedule "+id+" has run", patience, func() bool { return len(done()) > 0 })
	for n := 2; n <= scheduledRuns; n++ {
		f.must("trigger Schedule "+id, schedule.Trigger(f.ctx, temporalclient.ScheduleTriggerOptions{}))
		eventually.Within(f.tb, "Schedule "+id+" has run again", patience, func() bool { return len(done()) >= n })
	}
	total := 0
	for _, run := range is.Info.RecentActions {
		events, err := history(f.ctx, f.temporal, run.StartWorkflowResult.WorkflowID, run.StartWorkflowResult.FirstExecutionRunID)
		f.must("read the history of a sweep", err)
		total += actionsOfSchedule + actionsOf(events)
	}
	return float64(total) / float64(len(is.Info.RecentActions)), is.Schedule.Spec.Intervals[0].Every
}

// flip makes a proxy unhealthy and healthy again, and returns what each costs.
func (f *fleet) flip() float64 {
	f.tb.Helper()
	p := f.proxies[0]
	id := wire.ProxyID(ref.Of(p))
	from, err := markOf(f.ctx, f.temporal, id)
	f.must("look at a workflow", err)
	signaller := &starter.Signaller{Temporal: f.temporal}
	for _, healthy := range []bool{false, true} {
		verdict := map[bool]string{true: "healthy", false: "dead"}[healthy]
		f.must("tell a verdict", signaller.Health(f.ctx, ref.Of(p), wire.Health{
			Incarnation: p.Status.Instances[0].Incarnation, Healthy: healthy, Verdict: verdict, LatencyMillis: 5, ProbedAt: time.Now(),
		}))
		eventually.Within(f.tb, "the verdict is published", patience, func() bool { return f.get(p).Status.IsTrue(crawl.ConditionReady) == healthy })
		eventually.Within(f.tb, "the workflow parks", patience, func() bool { return f.parks(ref.Of(p)) })
	}
	events, err := since(f.ctx, f.temporal, id, from)
	f.must("read a history", err)
	return float64(actionsOf(events)) / 2
}

// lifecycle creates a proxy and deletes it, and returns what both cost.
func (f *fleet) lifecycle() float64 {
	f.tb.Helper()
	p := managed(f.namespace, "short", fleetProviders[0])
	f.must("create a Proxy", f.client.Create(f.ctx, p))
	eventually.Within(f.tb, "the instance is published", patience, func() bool { return f.get(p).Status.IsTrue(crawl.ConditionProvisioned) })
	f.must("delete a Proxy", f.client.Delete(f.ctx, p))
	eventually.Within(f.tb, "the workflow ends", patience, func() bool { return f.ended(ref.Of(p)) })
	from, err := beginning(f.ctx, f.temporal, wire.ProxyID(ref.Of(p)))
	f.must("look at a workflow", err)
	events, err := since(f.ctx, f.temporal, wire.ProxyID(ref.Of(p)), from)
	f.must("read a history", err)
	return float64(actionsOf(events))
}
