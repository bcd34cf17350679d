package bench

import (
	"slices"
	"testing"
	"time"

	temporalclient "go.temporal.io/sdk/client"

	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/temporal/wire"
)

// sweepRounds is how many sweeps are measured.
const sweepRounds = 20

// newFleet prepares a fleet on process providers, of which calls are told to c.
func (w *world) newFleet(c *calls, providers ...string) *fleet {
	w.tb.Helper()
	file, dirs := w.providersFile(providers...)
	free, err := ports.Reserve(1)
	w.must("find a free port", err)
	w.tb.Cleanup(free.Release)
	return &fleet{world: w, providers: file, registry: w.registry(file, c), stateDirs: dirs, port: int32(free.Ports[0])} // #nosec G115 -- a TCP port
}

// BenchmarkSweep1000 runs sweeps of a provider that has 1,000 instances, all as their
// objects say, by the workflow that the Schedule starts.
func BenchmarkSweep1000(b *testing.B) {
	reached := newCalls()
	f := newWorld(b).newFleet(reached, "process")
	f.seed(*sweepSize, func(int) string { return "process" })
	f.live()
	f.runFairlead(f.registry, nil)
	f.sweepOnce() // fills caches
	before := reached.of("List")
	var took []time.Duration
	for b.Loop() {
		for range sweepRounds {
			took = append(took, f.sweepOnce())
		}
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op") // of all rounds: says nothing
	b.ReportMetric(float64(reached.of("List")-before)/float64(len(took)), "lists/sweep")
	if lists := reached.of("List") - before; lists != len(took) {
		b.Errorf("%d sweeps took %d listings", len(took), lists)
	}
	b.ReportMetric(millis(percentile(took, 50)), "ms/sweep")
	b.ReportMetric(millis(percentile(took, 99)), "ms-max/sweep")
}

// sweepOnce runs the workflow of a sweep and returns how long it took.
func (f *fleet) sweepOnce() time.Duration {
	f.tb.Helper()
	start := time.Now()
	run, err := f.temporal.ExecuteWorkflow(f.ctx, temporalclient.StartWorkflowOptions{
		ID: wire.SweepID("process"), TaskQueue: wire.QueueMain,
	}, wire.WorkflowSweep, wire.SweepInput{Provider: "process"})
	f.must("start a sweep", err)
	var seen wire.SweepResult
	f.must("sweep", run.Get(f.ctx, &seen))
	took := time.Since(start)
	want := len(f.proxies)
	if seen.Instances != want || seen.Proxies != want || seen.Woken > 0 || seen.Problem != "" || len(seen.Suspects) > 0 {
		f.tb.Fatalf("a sweep of %d instances that are as they should be: %+v", want, seen)
	}
	return took
}
