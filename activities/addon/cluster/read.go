package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// Capabilities are the version of the API server and all that it has. They may be half a
// minute old. partial says of which groups it could not be told what is in them; empty for
// none.
func (c *Cluster) Capabilities(ctx context.Context) (caps render.Capabilities, partial string, err error) {
	now, err := c.served.within(ctx, fresh)
	if err != nil {
		return render.Capabilities{}, "", err
	}
	return now.Capabilities, now.partial(), nil
}

// Refresh has the API server be asked anew: its kinds have changed.
func (c *Cluster) Refresh() { c.served.forget() }

// Scope says of kinds that the API server has whether they are namespaced.
func (c *Cluster) Scope() manifest.Scope {
	return func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		mapping, err := c.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			return false, false
		}
		return isNamespaced(mapping), true
	}
}

// Lookup reads an object, or without a name the list of all. It returns nil if there is none,
// or no such kind.
func (c *Cluster) Lookup(ctx context.Context, q render.Question) (map[string]any, error) {
	gv, err := schema.ParseGroupVersion(q.APIVersion)
	if err != nil {
		return nil, err
	}
	mapping, err := c.Mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: q.Kind}, gv.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("which resource %s %s is: %w", q.APIVersion, q.Kind, err)
	}
	var resource dynamic.ResourceInterface = c.Dynamic.Resource(mapping.Resource)
	if isNamespaced(mapping) && q.Namespace != "" {
		resource = c.Dynamic.Resource(mapping.Resource).Namespace(q.Namespace)
	}
	object, err := read(ctx, resource, q.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

func read(ctx context.Context, resource dynamic.ResourceInterface, name string) (map[string]any, error) {
	if name == "" {
		list, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.UnstructuredContent(), nil
	}
	object, err := resource.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return object.Object, nil
}

func isNamespaced(m *meta.RESTMapping) bool { return m.Scope.Name() == meta.RESTScopeNameNamespace }
