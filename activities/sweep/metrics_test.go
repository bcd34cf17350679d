package sweep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/fairlead/activities/provider"
)

func TestGaugesFollowTheTargets(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := NewMetrics(r)
	if err != nil {
		t.Fatal(err)
	}
	series := func() []string {
		t.Helper()
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range families {
			for _, s := range f.Metric {
				text := f.GetName()
				for _, l := range s.Label {
					text += " " + l.GetValue()
				}
				all = append(all, fmt.Sprintf("%s %v", text, s.GetGauge().GetValue()))
			}
		}
		slices.Sort(all)
		return all
	}
	of := func(name, target string, up int) []string {
		return []string{
			fmt.Sprintf("proxy_operator_provider_check_duration_seconds %s %s 0.5", name, target),
			fmt.Sprintf("proxy_operator_provider_check_timestamp_seconds %s %s 1.7723664e+09", name, target),
			fmt.Sprintf("proxy_operator_provider_target_up %s %s %d", name, target, up),
		}
	}
	check := func(name string, targets ...provider.TargetStatus) {
		m.checked(name, targets, 500*time.Millisecond, now)
	}
	want := func(what string, all ...[]string) {
		t.Helper()
		expected := slices.Concat(all...)
		slices.Sort(expected)
		if diff := cmp.Diff(expected, series()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("kvm", provider.TargetStatus{Name: "a", Ready: true}, provider.TargetStatus{Name: "b"})
	check("gcp", provider.TargetStatus{Name: "a", Ready: true})
	want("after two checks", of("kvm", "a", 1), of("kvm", "b", 0), of("gcp", "a", 1))
	check("kvm", provider.TargetStatus{Name: "b", Ready: true})
	want("when a target left", of("kvm", "b", 1), of("gcp", "a", 1))
	m.Forget("kvm")
	want("when a provider left", of("gcp", "a", 1))
}
