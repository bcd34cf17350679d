package object_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestAnObjectOfAnotherOperator(t *testing.T) {
	a, ns := newActivities(t)
	const legacy = "proxies.example.com/cleanup"
	a.LegacyFinalizer = legacy
	p := managed(ns, "adopted")
	p.Finalizers = []string{legacy, "example.com/other"}
	ref := create(t, a, p)
	p.Status.Phase, p.Status.ProviderID, p.Status.IP = crawl.PhaseReady, "hosts/h/domains/x", "10.0.0.1"
	if err := a.Client.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want := []wire.Entry{{Provider: "known", Place: "zone-a", Name: provider.InstanceName(ref.UID), Incarnation: 1}}
	for _, deleted := range []bool{false, true} {
		if deleted {
			if err := a.Client.Delete(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		c, err := a.Claim(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Stored.Ledger); diff != "" {
			t.Errorf("ledger, deleted %v (-want +got):\n%s", deleted, diff)
		}
	}
	if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
		t.Fatal(err)
	}
	if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/other"}, p.Finalizers); diff != "" {
		t.Errorf("finalizers after the release (-want +got):\n%s", diff)
	}
}
