package server

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

var (
	proxiesDesc = prometheus.NewDesc("proxy_operator_proxies", "Proxy objects, by phase.", []string{"phase"}, nil)
	leasesDesc  = prometheus.NewDesc("proxy_operator_leases_active", "Leases that are active; only the process that lends has it.", nil, nil)
	waitingDesc = prometheus.NewDesc("lease_waiting", "Requests that wait for a lease; only the process that lends has it.", nil, nil)
)

// metrics are those of requests for leases.
type metrics struct {
	requests *prometheus.CounterVec
	// granted is the one of requests that is counted most.
	granted prometheus.Counter
	wait    prometheus.Histogram
	grant   prometheus.Histogram
}

func newMetrics() metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lease_requests_total", Help: "Requests for a lease, by outcome.",
		}, []string{"outcome"}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lease_wait_seconds", Help: "How long requests for a lease waited for a proxy that could be lent; those that got none are not in it.",
			Buckets: prometheus.ExponentialBucketsRange(0.001, 60, 15),
		}),
		grant: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lease_grant_seconds", Help: "From a request for a lease to the lease, which is on disk then, without the wait for a proxy.",
			Buckets: prometheus.ExponentialBucketsRange(0.0001, 5, 15),
		}),
	}
	m.granted = m.requests.WithLabelValues("granted")
	for _, outcome := range []string{"no_match", "quota", "budget", "key", "invalid", "unavailable", "cancelled"} {
		m.requests.WithLabelValues(outcome)
	}
	return m
}

func (s *server) registerMetrics() error {
	m := s.metrics
	for _, c := range []prometheus.Collector{m.requests, m.wait, m.grant, &collector{s}} {
		if err := s.Metrics.Register(c); err != nil {
			return fmt.Errorf("register the metrics of the API: %w", err)
		}
	}
	return nil
}

// count counts a request for a lease that was answered with err.
func (m *metrics) count(err error) {
	if err == nil {
		m.granted.Inc()
		return
	}
	m.requests.WithLabelValues(outcomeOf(err)).Inc()
}

// observe takes in how long a grant took.
func (m *metrics) observe(waited, took time.Duration) {
	m.wait.Observe(waited.Seconds())
	m.grant.Observe(max(0, took-waited).Seconds())
}

// collector reads the truth at each scrape: gauges that are kept up to date drift.
type collector struct{ server *server }

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- proxiesDesc
	ch <- leasesDesc
	ch <- waitingDesc
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	phases := map[crawl.Phase]int{}
	for _, p := range c.server.fleet.all() {
		phase := p.Status.Phase
		if phase == "" { // nobody has looked at it yet
			phase = crawl.PhasePending
		}
		phases[phase]++
	}
	for phase, n := range phases {
		ch <- prometheus.MustNewConstMetric(proxiesDesc, prometheus.GaugeValue, float64(n), string(phase))
	}
	e, err := c.server.Desk.Engine()
	if err != nil {
		return
	}
	active, waiting := e.Totals()
	ch <- prometheus.MustNewConstMetric(leasesDesc, prometheus.GaugeValue, float64(active))
	ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(waiting))
}
