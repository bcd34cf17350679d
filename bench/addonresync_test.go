package bench

import (
	"testing"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// quiet is how long nothing must have been written by a fleet that rests.
const quiet = 2 * time.Second

// BenchmarkAddonResync has 100 add-ons that are as they should be looked at again.
func BenchmarkAddonResync(b *testing.B) {
	f := newWorld(b).newAddonFleet(smallCharts(helmReleases))
	f.sync(f.smallAddons(helmReleases)...)
	for b.Loop() {
		f.rests()
		before := f.writes()
		looked := f.lookAgain()
		swept := f.sweep()
		writes := f.writes() - before
		f.heals(before + writes)

		b.ReportMetric(0, "ns/op") // of all of it: says nothing
		b.ReportMetric(float64(writes), "writes/resync")
		b.ReportMetric(float64(len(f.objects))/looked.Seconds(), "looks/s")
		b.ReportMetric(float64(len(f.objects))/swept.Seconds(), "sweep-looks/s")
		if writes > 0 {
			b.Errorf("%d writes for add-ons that had not changed", writes)
		}
	}
}

// rests waits until nothing is written any more.
func (f *addonFleet) rests() {
	f.tb.Helper()
	last, since := f.writes(), time.Now()
	eventually.Within(f.tb, "nothing is written any more", patience, func() bool {
		if now := f.writes(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > quiet
	})
}

// lookAgain wakes all add-ons, and returns how long it took until each had looked.
func (f *addonFleet) lookAgain() time.Duration {
	f.tb.Helper()
	var before []mark
	for _, a := range f.objects {
		m, err := markOf(f.ctx, f.temporal, wire.AddonID(addonRef(a)))
		f.must("look at a workflow", err)
		before = append(before, m)
	}
	start := time.Now()
	for _, a := range f.objects {
		f.must("wake an add-on", f.temporal.SignalWorkflow(f.ctx, wire.AddonID(addonRef(a)), "", wire.SignalChanged, nil))
	}
	for i, a := range f.objects {
		eventually.Within(f.tb, "an add-on has looked", patience, func() bool {
			now, err := markOf(f.ctx, f.temporal, wire.AddonID(addonRef(a)))
			return err == nil && now.run != before[i].run
		})
	}
	return time.Since(start)
}

// sweep looks at all add-ons as the Schedule would, and finds nothing.
func (f *addonFleet) sweep() time.Duration {
	f.tb.Helper()
	start := time.Now()
	var got wire.AddonSweepResult
	run, err := f.temporal.ExecuteWorkflow(f.ctx, temporalclient.StartWorkflowOptions{ID: wire.SweepAddonsID, TaskQueue: wire.QueueAddons}, wire.WorkflowAddonSweep)
	f.must("start a sweep of add-ons", err)
	f.must("sweep add-ons", run.Get(f.ctx, &got))
	took := time.Since(start)
	if want := (wire.AddonSweepResult{Addons: len(f.objects)}); got != want {
		f.tb.Fatalf("the sweep says %+v, want %+v", got, want)
	}
	return took
}

// heals has an object be drifted, and waits until more is written than before: a count of
// nothing says that nothing was written.
func (f *addonFleet) heals(before int) {
	f.tb.Helper()
	drifted := &corev1.ConfigMap{}
	drifted.Namespace, drifted.Name = f.namespace, f.objects[0].Name
	f.must("change an object", f.client.Patch(f.ctx, drifted, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"color":"red"}}`))))
	f.must("wake an add-on", f.temporal.SignalWorkflow(f.ctx, wire.AddonID(addonRef(f.objects[0])), "", wire.SignalChanged, nil))
	eventually.Within(f.tb, "an object that was changed is healed", patience, func() bool {
		f.must("read an object", f.client.Get(f.ctx, client.ObjectKeyFromObject(drifted), drifted))
		return drifted.Data["color"] == "blue"
	})
	if now := f.writes(); now < before+2 {
		f.tb.Errorf("a change and its healing are %d writes: they are not counted", now-before)
	}
}
