package object_test

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/outcome"
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
