package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// inMemory is a provider's sweep over pairs, without an API server.
func inMemory(t *testing.T, pairs ...pair) (*Provider, *backend, *calls) {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	for _, p := range pairs {
		if p.proxy != nil {
			objects = append(objects, p.proxy)
		}
	}
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&crawl.ProviderHealth{}).Build()
	b := &backend{listing: see(pairs...).listing, targets: []provider.TargetStatus{{Name: "host-a", Ready: true}}}
	told := &calls{}
	return &Provider{
		Name: "kvm", Type: "kvm", Provider: b, Cache: live, Live: live, Workflows: told,
		Orphans: DefaultOrphans(), Metrics: newMetrics(t), Log: localtest.Quiet(), Now: func() time.Time { return now },
	}, b, told
}

func TestSweep(t *testing.T) {
	t.Run("of a thousand instances is one list", func(t *testing.T) {
		var pairs []pair
		for i := range 1000 {
			p := aPair(fmt.Sprintf("p%03d", i))
			if i%100 == 0 {
				p.instance.State = provider.Stopped
			}
			pairs = append(pairs, p)
		}
		p, b, told := inMemory(t, pairs...)
		start := time.Now()
		r, err := p.Sweep(t.Context(), wire.SweepInput{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("a sweep of 1,000 instances took %s beside the provider's own time", time.Since(start).Round(time.Millisecond))
		if diff := cmp.Diff(wire.Sweep{Instances: 1000, Proxies: 1000, Woken: 10, KillBudget: 5}, r); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if b.lists != 1 || len(told.told) != 10 {
			t.Errorf("%d lists, told %v", b.lists, told.told)
		}
	})
	t.Run("wakes only whom it concerns, and suspects what belongs to nobody", func(t *testing.T) {
		p, _, told := inMemory(t, aPair("good"), aPair("lost", noInstance), aPair("stray", noProxy))
		r, err := p.Sweep(t.Context(), wire.SweepInput{})
		want := wire.Sweep{Instances: 2, Proxies: 2, Woken: 1, KillBudget: 5, Suspects: []wire.Suspect{{Place: "host-a", Name: "proxy-stray", Incarnation: 3, UID: "uid-stray"}}}
		if diff := cmp.Diff(want, r); diff != "" || err != nil {
			t.Errorf("error %v, result (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff([]string{"observed lost"}, told.told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
	t.Run("a partial look says so", func(t *testing.T) {
		p, b, told := inMemory(t, aPair("lost", noInstance), aPair("stray", noProxy))
		b.listing.Incomplete = map[string]string{"host-a": "dial qemu+ssh://root:canary@host-a"}
		r, err := p.Sweep(t.Context(), wire.SweepInput{})
		if err != nil || !r.Partial || len(told.told) > 0 {
			t.Errorf("result %+v, error %v, told %v", r, err, told.told)
		}
		if !strings.Contains(r.Problem, "target host-a was not listed") || strings.Contains(r.Problem, "canary") {
			t.Errorf("problem %q", r.Problem)
		}
	})
	t.Run("signals that fail are a problem, not the end", func(t *testing.T) {
		p, _, told := inMemory(t, aPair("a", noInstance), aPair("b", noInstance), aPair("stray", noProxy))
		told.fail = errors.New("Temporal is away " + strings.Repeat("x", 4000))
		r, err := p.Sweep(t.Context(), wire.SweepInput{})
		if err != nil || r.Woken != 0 || len(r.Suspects) != 1 || !strings.HasPrefix(r.Problem, "2 of 2 failed, the first: Temporal is away") || len(r.Problem) > maxProblem {
			t.Errorf("result %+v, error %v", r, err)
		}
	})
	t.Run("objects that cannot be read fail it", func(t *testing.T) {
		p, _, _ := inMemory(t, aPair("stray", noProxy))
		p.Cache = fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build() // knows no Proxies
		if r, err := p.Sweep(t.Context(), wire.SweepInput{}); err == nil {
			t.Errorf("it ended well: %+v", r)
		}
	})
}

func TestAgedInstancesAreAskedToGo(t *testing.T) {
	live, ns := apiServer(t)
	create := func(t *testing.T, name string, changes ...func(*crawl.Proxy)) *crawl.Proxy {
		t.Helper()
		made := aPair(name, maxAge(time.Hour)).proxy
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: made.Spec}
		for _, c := range changes {
			c(p)
		}
		if err := live.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p.Status = made.Status
		if err := live.Status().Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	wish := func(t *testing.T, p *crawl.Proxy) string {
		t.Helper()
		if err := live.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		return p.Annotations[crawl.AnnotationReplace]
	}
	first, second := create(t, "first"), create(t, "second")
	v := view{provider: "kvm", now: now}
	for i, p := range []*crawl.Proxy{first, second} {
		v.proxies = append(v.proxies, *p.DeepCopy())
		instance := aPair(p.Name).instance
		instance.CreatedAt = now.Add(-time.Duration(10-i) * time.Hour)
		v.listing.Instances = append(v.listing.Instances, *instance)
	}
	p := &Provider{Name: "kvm", Live: live, Log: localtest.Quiet()}
	ask := func(t *testing.T) int {
		t.Helper()
		done, err := p.replaceAged(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	t.Run("on the object, the oldest first", func(t *testing.T) {
		if done := ask(t); done != 1 || wish(t, first) != "max-age/3" || wish(t, second) != "" {
			t.Errorf("%d asked; wishes %q and %q", done, wish(t, first), wish(t, second))
		}
		if !slices.ContainsFunc(first.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == string(kube.FieldOwner) }) {
			t.Error("another field manager wrote it")
		}
	})
	t.Run("but never over a wish that came meanwhile", func(t *testing.T) {
		first.Annotations[crawl.AnnotationReplace] = "by hand"
		if err := live.Update(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if done := ask(t); done != 0 || wish(t, first) != "by hand" {
			t.Errorf("%d asked; the wish is %q", done, wish(t, first))
		}
	})
	t.Run("and not of an object that went meanwhile", func(t *testing.T) {
		if err := live.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if done := ask(t); done != 0 {
			t.Errorf("%d asked", done)
		}
	})
}
