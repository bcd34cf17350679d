package server

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

const scrapeTimeout = 5 * time.Second

var (
	proxiesDesc = prometheus.NewDesc("proxy_operator_proxies", "Proxy objects, by phase.", []string{"phase"}, nil)
	leasesDesc  = prometheus.NewDesc("proxy_operator_leases_active", "Leases that are active.", nil, nil)
)

func (s *server) registerMetrics() error {
	s.granted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lease_requests_total", Help: "Requests for a lease, by outcome.",
	}, []string{"outcome"})
	for _, outcome := range []string{"granted", "no_match", "invalid", "unavailable"} {
		s.granted.WithLabelValues(outcome)
	}
	for _, c := range []prometheus.Collector{s.granted, &collector{s}} {
		if err := s.Metrics.Register(c); err != nil {
			return fmt.Errorf("register the metrics of the API: %w", err)
		}
	}
	return nil
}

func (s *server) count(outcome string) { s.granted.WithLabelValues(outcome).Inc() }

// collector reads the truth at each scrape: gauges that are kept up to date drift.
type collector struct{ server *server }

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- proxiesDesc
	ch <- leasesDesc
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	proxies, err := c.server.fleet.refresh(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(proxiesDesc, err)
		return
	}
	phases := map[crawl.Phase]int{}
	for _, p := range proxies {
		phase := p.Status.Phase
		if phase == "" { // nobody has looked at it yet
			phase = crawl.PhasePending
		}
		phases[phase]++
	}
	for phase, n := range phases {
		ch <- prometheus.MustNewConstMetric(proxiesDesc, prometheus.GaugeValue, float64(n), string(phase))
	}
	active := 0
	for _, n := range c.server.Store.Counts() {
		active += n
	}
	ch <- prometheus.MustNewConstMetric(leasesDesc, prometheus.GaugeValue, float64(active))
}
