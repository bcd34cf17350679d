package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"example.com/fairlead/activities/addon/manifest"
)

// partial is a mapper whose discovery failed for a group.
type partial struct{ meta.RESTMapper }

func (partial) RESTMapping(kind schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	return nil, &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: kind.Group, Version: "v1"}: errBusy}}
}

func TestPartialDiscovery(t *testing.T) {
	thing := manifest.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "shop"},
	}}}
	tests := map[string]Request{
		"of what is rendered":          {Set: manifest.Set{Objects: []manifest.Object{thing}}},
		"of what is rendered no more":  {Previous: []Owned{{ID: thing.ID(), UID: "u"}}},
		"though a definition would do": {Set: manifest.Set{Objects: []manifest.Object{thing, defines("example.com", "Thing")}}},
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Planner{Mapper: partial{}}.Plan(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), "Thing.example.com shop/a: the APIs of the cluster are known in part only") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func defines(group, kind string) manifest.Object {
	return manifest.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things"},
		"spec": map[string]any{"group": group, "names": map[string]any{"kind": kind}},
	}}}
}

func TestProvides(t *testing.T) {
	service := manifest.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.metrics"},
		"spec": map[string]any{"group": "metrics", "version": "v1"},
	}}}
	var targets []*target
	for _, o := range []manifest.Object{defines("example.com", "Thing"), service} {
		targets = append(targets, &target{Object: o, id: o.ID()})
	}
	c := newCrowd(targets)
	tests := map[string]struct {
		kind schema.GroupVersionKind
		want string
	}{
		"a definition":        {schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, targets[0].id.String() + " comes in the same plan"},
		"an APIService":       {schema.GroupVersionKind{Group: "metrics", Version: "v1", Kind: "Any"}, targets[1].id.String() + " comes in the same plan"},
		"another version":     {schema.GroupVersionKind{Group: "metrics", Version: "v2", Kind: "Any"}, ""},
		"another kind":        {schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Other"}, ""},
		"the kind of another": {schema.GroupVersionKind{Group: "other.com", Version: "v1", Kind: "Thing"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := c.provides(test.kind); got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}
