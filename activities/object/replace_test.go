package object_test

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestAskForReplacement(t *testing.T) {
	a, ns := newActivities(t)
	p := managed(ns, "asked")
	p.Annotations = map[string]string{"example.com/other": "kept"}
	ref := create(t, a, p)
	ask := func(ref wire.ProxyRef, value string) error {
		return a.AskForReplacement(t.Context(), wire.ReplaceInput{Proxy: ref, Value: value})
	}
	read := func(t *testing.T) (annotations map[string]string, version string) {
		t.Helper()
		if err := a.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Fatal(err)
		}
		return p.Annotations, p.ResourceVersion
	}
	if err := ask(ref, "first"); err != nil {
		t.Fatal(err)
	}
	had, version := read(t)
	if had[crawl.AnnotationReplace] != "first" || had["example.com/other"] != "kept" {
		t.Errorf("annotations = %v", had)
	}
	t.Run("the same value is written once", func(t *testing.T) {
		if err := ask(ref, "first"); err != nil {
			t.Fatal(err)
		}
		if _, now := read(t); now != version {
			t.Error("the object was written again")
		}
	})
	t.Run("another value is written", func(t *testing.T) {
		if err := ask(ref, "second"); err != nil {
			t.Fatal(err)
		}
		if had, _ := read(t); had[crawl.AnnotationReplace] != "second" {
			t.Errorf("annotations = %v", had)
		}
	})
	t.Run("another object of the same name is not asked", func(t *testing.T) {
		other := ref
		other.UID = "gone"
		if err := ask(other, "third"); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
		if had, _ := read(t); had[crawl.AnnotationReplace] != "second" {
			t.Errorf("annotations = %v", had)
		}
	})
	t.Run("an External proxy has no instance to replace", func(t *testing.T) {
		e := managed(ns, "external")
		e.Spec = crawl.ProxySpec{Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: "127.0.0.1"}}
		if err := ask(create(t, a, e), "any"); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("error = %v, want ErrPermanent", err)
		}
	})
	t.Run("an object that is going, or gone, gets no new instance", func(t *testing.T) {
		if _, err := a.Claim(t.Context(), ref); err != nil { // the finalizer goes on
			t.Fatal(err)
		}
		if err := a.Client.Delete(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := ask(ref, "late"); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
		if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
			t.Fatal(err)
		}
		if err := ask(ref, "too late"); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
	})
}
