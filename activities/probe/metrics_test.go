package probe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/fairlead/activities/probe"
)

func TestMetricsCountEveryProbeUntilTheProxyIsGone(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics, err := probe.NewVectors(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []probe.Verdict{probe.Healthy, probe.Slow, probe.Dead, probe.Blocked} {
		metrics.Probed("crawl", "demo", probe.Result{Verdict: v, Latency: time.Second})
	}
	want := map[string]float64{"healthcheck_duration_seconds": 2, "healthcheck_failures_total": 1}
	if diff := cmp.Diff(want, gather(t, registry)); diff != "" {
		t.Error(diff)
	}
	metrics.Forget("crawl", "demo")
	if diff := cmp.Diff(map[string]float64{}, gather(t, registry)); diff != "" {
		t.Error(diff)
	}
}

func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return got
}
