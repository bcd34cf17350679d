package sweep

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

func TestIdle(t *testing.T) {
	tests := map[string]struct {
		proxy   pair
		running bool
		want    []string
	}{
		"one that runs":                  {proxy: aPair("a"), running: true},
		"one that does not":              {proxy: aPair("a"), want: []string{"a"}},
		"an External one":                {proxy: aPair("a", proxied(func(p *crawl.Proxy) { p.Spec.Mode = crawl.ModeExternal })), want: []string{"a"}},
		"one of an unknown provider":     {proxy: aPair("a", proxied(func(p *crawl.Proxy) { p.Spec.Provider = "unknown" })), want: []string{"a"}},
		"a paused one":                   {proxy: aPair("a", annotated(crawl.AnnotationPaused, "true")), want: []string{"a"}},
		"one that is being deleted":      {proxy: aPair("a", deleting), want: []string{"a"}},
		"one that only others hold back": {proxy: aPair("a", deleting, proxied(func(p *crawl.Proxy) { p.Finalizers = []string{"example.com/other"} }))},
		"one that another operator managed last": {proxy: aPair("a", deleting, proxied(func(p *crawl.Proxy) {
			p.Finalizers, p.Status = []string{"example.com/former"}, crawl.ProxyStatus{ProviderID: "x"}
		})), want: []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			running := map[string]bool{"proxy/crawlers/a/another-uid": true}
			if tt.running {
				running[wire.ProxyID(ref.Of(tt.proxy.proxy))] = true
			}
			var got []string
			for _, ref := range idle([]crawl.Proxy{*tt.proxy.proxy}, running) {
				got = append(got, ref.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("idle (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectsAreLookedAtAgainBeforeTheyAreStarted(t *testing.T) {
	live, ns := apiServer(t)
	for _, name := range []string{"idle", "behind", "again"} {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: crawl.ProxySpec{Provider: "local"}}
		if err := live.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	var all crawl.ProxyList
	if err := live.List(t.Context(), &all, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	gone := all.Items[0].DeepCopy()
	gone.Name = "gone"
	all.Items = append(all.Items, *gone)
	for i := range all.Items {
		if p := &all.Items[i]; p.Name == "again" {
			p.UID = "of-a-former-object"
		}
	}
	told := &calls{open: map[string]bool{"behind": true}}
	o := &Objects{Live: live, Workflows: told, Log: localtest.Quiet()}
	started, err := o.startAll(t.Context(), idle(all.Items, nil))
	if err != nil || started != 1 {
		t.Errorf("%d started, error %v", started, err)
	}
	if diff := cmp.Diff([]string{"changed idle"}, told.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	told.fail = errors.New("Temporal is away")
	if started, err := o.startAll(t.Context(), idle(all.Items, nil)); err == nil || started != 0 {
		t.Errorf("without Temporal: %d started, error %v", started, err)
	}
	if slices.Contains(told.told, "changed gone") {
		t.Error("an object that is gone was started")
	}
}
