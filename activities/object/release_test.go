package object_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestRelease(t *testing.T) {
	a, ns := newActivities(t)
	p := managed(ns, "released")
	ref := create(t, a, p)
	if _, err := a.Claim(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	t.Run("an object that is not being deleted keeps its finalizer", func(t *testing.T) {
		if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
	})
	t.Run("a deleted object goes, and releasing it again is no error", func(t *testing.T) {
		if err := a.Client.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("get = %v, want not found", err)
		}
	})
}

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
