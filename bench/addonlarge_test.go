package bench

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// largeTemplates and largeEach are how many templates the large chart has, and how many
	// objects each of them makes.
	largeTemplates, largeEach = 20, 100
	// maxEvent and maxStatus are the limits of an event and of a status, in bytes.
	maxEvent, maxStatus = 64 << 10, 256 << 10
)

// BenchmarkAddonLarge syncs an add-on of 2,000 objects.
func BenchmarkAddonLarge(b *testing.B) {
	f := newWorld(b).newAddonFleet(map[string]map[string]string{"small": smallChart, "large": largeChart(largeTemplates, largeEach)})
	f.sync(f.addon(f.namespace+"-first", "small")) // the worker is up
	for b.Loop() {
		f.memory.reset()
		large := f.addon(f.namespace+"-large", "large")
		took := f.sync(large)
		peak, resident := f.memory.MiB(), f.memory.residentMiB()
		episodes := f.firstEpisodes(b)
		f.must("read an Addon", f.client.Get(f.ctx, client.ObjectKeyFromObject(large), large))
		status, err := json.Marshal(large.Status)
		f.must("encode a status", err)
		if n := int(large.Status.ObjectsTotal); n != largeTemplates*largeEach {
			b.Fatalf("the add-on has %d objects, want %d", n, largeTemplates*largeEach)
		}

		b.ReportMetric(0, "ns/op") // of all of it: says nothing
		b.ReportMetric(took.Seconds(), "seconds")
		b.ReportMetric(float64(episodes.largest), "largest-event-bytes")
		b.ReportMetric(float64(len(status)), "status-bytes")
		b.ReportMetric(peak, "MiB")
		b.ReportMetric(resident, "MiB-sum")
		if episodes.largest > maxEvent || len(status) >= maxStatus {
			b.Errorf("an event has %d bytes, the status %d: the limits are %d and %d", episodes.largest, len(status), maxEvent, maxStatus)
		}
	}
}
