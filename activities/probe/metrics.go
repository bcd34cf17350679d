package probe

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics hears of every probe; the objects only hear of changes.
type Metrics interface {
	// Probed tells the result of one probe.
	Probed(namespace, name string, r Result)
	// Forget drops what is kept of a proxy that is gone.
	Forget(namespace, name string)
}

type noMetrics struct{}

func (noMetrics) Probed(string, string, Result) {}
func (noMetrics) Forget(string, string)         {}

// Vectors are the Metrics of Prometheus.
type Vectors struct {
	duration *prometheus.HistogramVec
	failures *prometheus.CounterVec
}

// NewVectors registers the metrics of probes.
func NewVectors(r prometheus.Registerer) (*Vectors, error) {
	v := &Vectors{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "healthcheck_duration_seconds", Help: "Time that successful probes took, by proxy.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"proxy"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "healthcheck_failures_total", Help: "Probes that found a proxy not working, by proxy.",
		}, []string{"proxy"}),
	}
	for _, c := range []prometheus.Collector{v.duration, v.failures} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of probes: %w", err)
		}
	}
	return v, nil
}

// Probed counts r.
func (v *Vectors) Probed(namespace, name string, r Result) {
	proxy := namespace + "/" + name
	switch {
	case r.Verdict.OK():
		v.duration.WithLabelValues(proxy).Observe(r.Latency.Seconds())
	case r.Verdict != Blocked:
		v.failures.WithLabelValues(proxy).Inc()
	}
}

// Forget drops the series of a proxy.
func (v *Vectors) Forget(namespace, name string) {
	proxy := namespace + "/" + name
	v.duration.DeleteLabelValues(proxy)
	v.failures.DeleteLabelValues(proxy)
}
