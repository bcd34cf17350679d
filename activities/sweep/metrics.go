package sweep

import (
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/fairlead/activities/provider"
)

// Metrics of the sweeps. Each worker tells of the checks that it ran.
type Metrics struct {
	up       *prometheus.GaugeVec
	duration *prometheus.GaugeVec
	at       *prometheus.GaugeVec
	orphans  *prometheus.CounterVec

	mu sync.Mutex
	// targets by provider that have series.
	targets map[string]map[string]bool
}

// NewMetrics registers the metrics of sweeps.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"provider", "target"})
	}
	m := &Metrics{
		up:       gauge("proxy_operator_provider_target_up", "1 when the target of the provider could be reached at the last check, else 0."),
		duration: gauge("proxy_operator_provider_check_duration_seconds", "Time that the last check of the provider took."),
		at:       gauge("proxy_operator_provider_check_timestamp_seconds", "Unix time of the last check of the provider."),
		orphans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "proxy_operator_orphans_total", Help: "Confirmed orphans, by provider and by outcome: deleted, left or failed.",
		}, []string{"provider", "outcome"}),
		targets: map[string]map[string]bool{},
	}
	for _, c := range []prometheus.Collector{m.up, m.duration, m.at, m.orphans} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of sweeps: %w", err)
		}
	}
	return m, nil
}

// checked sets the series of a provider's targets and drops those of targets that
// are no more.
func (m *Metrics) checked(name string, targets []provider.TargetStatus, took time.Duration, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := map[string]bool{}
	for _, t := range targets {
		now[t.Name] = true
		up := 0.0
		if t.Ready {
			up = 1
		}
		m.up.WithLabelValues(name, t.Name).Set(up)
		m.duration.WithLabelValues(name, t.Name).Set(took.Seconds())
		m.at.WithLabelValues(name, t.Name).Set(float64(at.UnixMilli()) / 1000)
	}
	m.drop(name, now)
	m.targets[name] = now
}

// Forget drops the series of a provider that this worker serves no more.
func (m *Metrics) Forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(name, nil)
	delete(m.targets, name)
}

// drop removes the series of the targets that are not in keep.
func (m *Metrics) drop(name string, keep map[string]bool) {
	for target := range m.targets[name] {
		if keep[target] {
			continue
		}
		for _, v := range []*prometheus.GaugeVec{m.up, m.duration, m.at} {
			v.DeleteLabelValues(name, target)
		}
	}
}

func (m *Metrics) orphan(name, outcome string) { m.orphans.WithLabelValues(name, outcome).Inc() }
