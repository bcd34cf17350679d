package bench

import (
	"testing"
	"time"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	// helmReleases is how many releases Helm installs beside the add-ons.
	helmReleases = 100
	// helmAtATime is how many commands a person might have run at the same time.
	helmAtATime = 8
)

// smallCharts are so many charts, as different ones as add-ons have.
func smallCharts(n int) map[string]map[string]string {
	charts := map[string]map[string]string{}
	for i := range n {
		charts[numbered("small", i)] = smallChart
	}
	return charts
}

// smallAddons are so many add-ons, of all charts in turn.
func (f *addonFleet) smallAddons(n int) []*addons.Addon {
	var all []*addons.Addon
	for i := range n {
		all = append(all, f.addon(numbered(f.namespace, i), numbered("small", i%helmReleases)))
	}
	return all
}

// BenchmarkAddonSync100 syncs 100 add-ons of four objects for the first time, and has Helm
// install the same charts.
func BenchmarkAddonSync100(b *testing.B) { benchmarkAddonSync(b, helmReleases) }

// BenchmarkAddonSync1000 does it with a thousand. Helm's time is ten times that of a hundred:
// it does one after the other.
func BenchmarkAddonSync1000(b *testing.B) { benchmarkAddonSync(b, *addonSize) }

func benchmarkAddonSync(b *testing.B, n int) {
	f := newWorld(b).newAddonFleet(smallCharts(helmReleases))
	h := f.newHelm()
	releases := map[string]string{}
	for i := range helmReleases {
		releases[numbered("release", i)] = numbered("small", i)
	}
	f.sync(f.addon(f.namespace+"-first", numbered("small", 0))) // the worker is up
	f.objects = f.objects[:1]
	for b.Loop() {
		f.memory.reset()
		before := f.requests(isRequest)
		took := f.sync(f.smallAddons(n)...)
		peak, resident := f.memory.MiB(), f.memory.residentMiB()
		requests := f.requests(isRequest) - before
		episodes := f.firstEpisodes(b)
		one := scaled(h.install(1, releases), n)
		several := scaled(h.install(helmAtATime, releases), n)

		b.ReportMetric(0, "ns/op") // of all of it: says nothing
		b.ReportMetric(took.Seconds(), "seconds")
		b.ReportMetric(one.Seconds(), "helm-seconds")
		b.ReportMetric(took.Seconds()/one.Seconds(), "x-helm")
		b.ReportMetric(took.Seconds()/several.Seconds(), "x-helm-parallel")
		b.ReportMetric(peak, "MiB")
		b.ReportMetric(resident, "MiB-sum")
		b.ReportMetric(float64(requests)/float64(n), "requests/addon")
		b.ReportMetric(float64(episodes.activities), "activities/episode")
		b.ReportMetric(float64(episodes.largest), "largest-event-bytes")
	}
}

// scaled is what n releases take if helmReleases take so long.
func scaled(took time.Duration, n int) time.Duration { return took * time.Duration(n) / helmReleases }
