package sweep

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const cluster = "c1"

// pair is a Proxy at rest and its instance on provider "kvm", as they should be.
type pair struct {
	proxy    *crawl.Proxy
	instance *provider.Instance
}

type change func(p *pair)

func aPair(name string, changes ...change) pair {
	p := pair{
		proxy: &crawl.Proxy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "crawlers", Name: name, UID: types.UID("uid-" + name), Annotations: map[string]string{}, Finalizers: []string{crawl.Finalizer}},
			Spec:       crawl.ProxySpec{Mode: crawl.ModeManaged, Provider: "kvm"},
			Status: crawl.ProxyStatus{
				Phase: crawl.PhaseReady, Sequence: 9, IP: "10.0.0.1", Port: 3128, Conditions: provisioned(wire.ReasonCreated),
				Instances: []crawl.InstanceRecord{{Provider: "kvm", Place: "host-a", Name: "proxy-" + name, Incarnation: 3}},
			},
		},
		instance: &provider.Instance{
			ID: provider.ID{Place: "host-a", Name: "proxy-" + name}, Incarnation: 3,
			Owner: provider.Owner{Namespace: "crawlers", Name: name, UID: "uid-" + name, ClusterID: cluster},
			State: provider.Running, Host: "10.0.0.1", Port: 3128, CreatedAt: now.Add(-time.Hour),
		},
	}
	for _, c := range changes {
		c(&p)
	}
	return p
}

func provisioned(reason string) []metav1.Condition {
	return []metav1.Condition{{Type: crawl.ConditionProvisioned, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(now)}}
}

func reason(r string) change {
	return proxied(func(p *crawl.Proxy) { p.Status.Conditions = provisioned(r) })
}

func see(pairs ...pair) view {
	v := view{provider: "kvm", now: now, reaches: func(_ *crawl.Proxy, place string) bool { return place != "former" }}
	for _, p := range pairs {
		if p.proxy != nil {
			v.proxies = append(v.proxies, *p.proxy)
		}
		if p.instance != nil {
			v.listing.Instances = append(v.listing.Instances, *p.instance)
		}
	}
	return v
}

func (v view) with(change func(*view)) view {
	change(&v)
	return v
}

func silent(targets ...string) func(*view) {
	return func(v *view) {
		v.listing.Incomplete = map[string]string{}
		for _, t := range targets {
			v.listing.Incomplete[t] = "no route to host"
		}
	}
}

func checked(names ...string) func(*view) {
	return func(v *view) {
		for _, n := range names {
			v.targets = append(v.targets, provider.TargetStatus{Name: n})
		}
	}
}

func noInstance(p *pair) { p.instance = nil }
func noProxy(p *pair)    { p.proxy = nil }

func proxied(change func(*crawl.Proxy)) change    { return func(p *pair) { change(p.proxy) } }
func inst(change func(*provider.Instance)) change { return func(p *pair) { change(p.instance) } }
func phase(ph crawl.Phase) change                 { return proxied(func(p *crawl.Proxy) { p.Status.Phase = ph }) }
func annotated(key, value string) change {
	return proxied(func(p *crawl.Proxy) { p.Annotations[key] = value })
}
func aged(age time.Duration) change {
	return inst(func(i *provider.Instance) { i.CreatedAt = now.Add(-age) })
}
func deleting(p *pair) { p.proxy.DeletionTimestamp = &metav1.Time{Time: now} }

func maxAge(d time.Duration) change {
	return proxied(func(p *crawl.Proxy) { p.Spec.Replacement = &crawl.Replacement{MaxAge: &metav1.Duration{Duration: d}} })
}

func place(place string) change {
	return func(p *pair) {
		p.proxy.Status.Instances[0].Place = place
		if p.instance != nil {
			p.instance.Place = place
		}
	}
}

func newMetrics(t *testing.T) *Metrics {
	t.Helper()
	m, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDrift(t *testing.T) {
	tests := map[string]struct {
		view view
		want []string
	}{
		"everything is as told":         {view: see(aPair("a"), aPair("b", phase(crawl.PhaseUnhealthy)))},
		"an instance vanished":          {view: see(aPair("a", noInstance)), want: []string{"a"}},
		"one of an unhealthy proxy too": {view: see(aPair("a", noInstance, phase(crawl.PhaseUnhealthy))), want: []string{"a"}},
		"an instance stopped":           {view: see(aPair("a", inst(func(i *provider.Instance) { i.State = provider.Stopped }))), want: []string{"a"}},
		"another address":               {view: see(aPair("a", inst(func(i *provider.Instance) { i.Host = "10.0.0.2" }))), want: []string{"a"}},
		"another port":                  {view: see(aPair("a", inst(func(i *provider.Instance) { i.Port = 1 }))), want: []string{"a"}},
		"another incarnation":           {view: see(aPair("a", inst(func(i *provider.Instance) { i.Incarnation = 4 })))},
		"a place of former settings":    {view: see(aPair("a", noInstance, place("former")))},
		"another place":                 {view: see(aPair("a", inst(func(i *provider.Instance) { i.Place = "host-b" }))), want: []string{"a"}},
		"a Proxy that is being deleted": {view: see(aPair("a", noInstance, deleting))},
		"a paused Proxy":                {view: see(aPair("a", noInstance, annotated(crawl.AnnotationPaused, "true")))},
		"one that is waited for":        {view: see(aPair("a", noInstance, reason(wire.ReasonProvisioning)))},
		"one without its Secret":        {view: see(aPair("a", noInstance, reason(wire.ReasonCloudInit))), want: []string{"a"}},
		"one at a banned address":       {view: see(aPair("a", noInstance, reason(wire.ReasonSameAddress))), want: []string{"a"}},
		"a Proxy of another provider":   {view: see(aPair("a", noInstance, proxied(func(p *crawl.Proxy) { p.Spec.Provider = "gcp" })))},
		"an External Proxy":             {view: see(aPair("a", noInstance, proxied(func(p *crawl.Proxy) { p.Spec.Mode = crawl.ModeExternal })))},
		"a Proxy that is moving":        {view: see(aPair("a", noInstance, proxied(func(p *crawl.Proxy) { p.Status.Instances[0].Provider = "gcp" })))},
		"a Proxy without a ledger":      {view: see(aPair("a", noInstance, proxied(func(p *crawl.Proxy) { p.Status.Instances = nil })))},
		"only the newest entry counts": {view: see(aPair("a", proxied(func(p *crawl.Proxy) {
			p.Status.Instances = append(p.Status.Instances, crawl.InstanceRecord{Provider: "kvm", Place: "host-b", Name: "proxy-a", Incarnation: 2})
		})))},

		"a silent host hides what is on it": {view: see(aPair("a", noInstance)).with(silent("host-a")).with(checked("host-a", "host-b"))},
		"but nothing on another host": {
			view: see(aPair("a", noInstance), aPair("b", noInstance, place("host-b"))).with(silent("host-b")).with(checked("host-a", "host-b")),
			want: []string{"a"},
		},
		"a silent zone is known by what is in it": {
			view: see(aPair("a", noInstance), aPair("b", noInstance, place("zone-b"))).with(silent("zone-b")).with(checked("project")),
			want: []string{"a"},
		},
		"a silence that is nowhere may hide everything": {view: see(aPair("a", noInstance)).with(silent("local")).with(checked("local"))},
		"one such silence among others too":             {view: see(aPair("a", noInstance)).with(silent("host-b", "elsewhere")).with(checked("host-a", "host-b"))},
		"what is seen in a partial listing counts all the same": {
			view: see(aPair("a", inst(func(i *provider.Instance) { i.State = provider.Halted }))).with(silent("local")),
			want: []string{"a"},
		},
	}
	for _, ph := range []crawl.Phase{"", crawl.PhasePending, crawl.PhaseProvisioning, crawl.PhaseDraining, crawl.PhaseReplacing, crawl.PhaseDeleting, crawl.PhaseWaiting, crawl.PhaseFailed} {
		tests[fmt.Sprintf("a Proxy in phase %q", ph)] = struct {
			view view
			want []string
		}{view: see(aPair("a", noInstance, phase(ph)))}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, ref := range tt.view.drifted() {
				got = append(got, ref.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
		})
	}
}
