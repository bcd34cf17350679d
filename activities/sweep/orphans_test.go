package sweep

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

func TestSuspects(t *testing.T) {
	stray := func(name string, changes ...change) pair { return aPair(name, append(changes, noProxy)...) }
	a := wire.Suspect{Place: "host-a", Name: "proxy-a", Incarnation: 3, UID: "uid-a"}
	tests := map[string]struct {
		pairs []pair
		mode  Mode
		ours  []string // namespaces
		want  []wire.Suspect
		kill  int
	}{
		"an instance with its object":           {pairs: []pair{aPair("a")}, kill: 5},
		"an instance without":                   {pairs: []pair{stray("a")}, want: []wire.Suspect{a}, kill: 5},
		"one just old enough":                   {pairs: []pair{stray("a", aged(10*time.Minute))}, want: []wire.Suspect{a}, kill: 5},
		"one that is too new":                   {pairs: []pair{stray("a", aged(10*time.Minute-time.Second))}, kill: 5},
		"one whose age nobody knows":            {pairs: []pair{stray("a", inst(func(i *provider.Instance) { i.CreatedAt = time.Time{} }))}, kill: 5},
		"one that does not say whose it is":     {pairs: []pair{stray("a", inst(func(i *provider.Instance) { i.Owner.UID = "" }))}, kill: 5},
		"an object that is being deleted":       {pairs: []pair{aPair("a", deleting)}, kill: 5},
		"an object that is External now":        {pairs: []pair{aPair("a", proxied(func(p *crawl.Proxy) { p.Spec.Mode = crawl.ModeExternal }))}, kill: 5},
		"an object that has another provider":   {pairs: []pair{aPair("a", proxied(func(p *crawl.Proxy) { p.Spec.Provider = "gcp" }))}, kill: 5},
		"an object of the same name":            {pairs: []pair{aPair("a", proxied(func(p *crawl.Proxy) { p.UID = "other" }))}, want: []wire.Suspect{a}, kill: 5},
		"reporting has no budget":               {pairs: []pair{stray("a")}, mode: Report, want: []wire.Suspect{a}},
		"one of a namespace of ours":            {pairs: []pair{stray("a")}, ours: []string{"others", "crawlers"}, want: []wire.Suspect{a}, kill: 5},
		"one of another's namespace":            {pairs: []pair{stray("a")}, ours: []string{"others"}, kill: 5},
		"off suspects nobody":                   {pairs: []pair{stray("a")}, mode: Off},
		"the order does not depend on the list": {pairs: []pair{stray("b"), stray("a")}, want: []wire.Suspect{a, {Place: "host-a", Name: "proxy-b", Incarnation: 3, UID: "uid-b"}}, kill: 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &Provider{Name: "kvm", Orphans: DefaultOrphans(), Log: localtest.Quiet()}
			p.Orphans.Namespaces = tt.ours
			if tt.mode != "" {
				p.Orphans.Mode = tt.mode
			}
			got, kill := p.suspects(see(tt.pairs...))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("suspects (-want +got):\n%s", diff)
			}
			if kill != tt.kill {
				t.Errorf("%d may be deleted, want %d", kill, tt.kill)
			}
		})
	}
}

func TestModeIsAFlag(t *testing.T) {
	m := Delete
	if err := m.Set("report"); err != nil || m != Report || m.String() != "report" {
		t.Errorf("mode %q, error %v", m, err)
	}
	if err := m.Set("dry-run"); err == nil || err.Error() != "it is none of delete report off" || m != Report {
		t.Errorf("mode %q, error %v", m, err)
	}
}
