package manifest

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Placement says where an add-on is installed.
type Placement struct {
	// Namespace is for the objects that need one and name none.
	Namespace string
	Scope     Scope
}

// Placed is a set whose objects have the namespaces that they are installed in.
type Placed struct {
	Set

	// Foreign are in other namespaces than the add-on's, as their manifests say.
	Foreign []ID
	// Unknown are of kinds that nobody knows yet. They are left as they were.
	Unknown []ID
}

// Place gives the objects and hooks of set their namespaces, as Helm and kubectl do: a
// namespaced object without one gets the add-on's, one of another namespace stays there,
// and a cluster-scoped object loses it. set stays as it is.
func Place(set Set, to Placement) Placed {
	scope := to.Scope.withDefinitions(set.Objects)
	var placed Placed
	place := func(o Object) Object {
		namespaced, known := scope(o.GroupVersionKind())
		switch namespace := o.GetNamespace(); {
		case !known:
			placed.Unknown = append(placed.Unknown, o.ID())
		case !namespaced && namespace != "":
			return o.withNamespace("")
		case namespaced && namespace == "":
			return o.withNamespace(to.Namespace)
		case namespaced && namespace != to.Namespace:
			placed.Foreign = append(placed.Foreign, o.ID())
		}
		return o
	}
	placed.Set = set.each(place)
	return placed
}

// Label puts a label on the objects and hooks of set, and not on the pods that they
// make: those would be replaced. set stays as it is.
func Label(set Set, name, value string) Set {
	return set.each(func(o Object) Object {
		return o.edit(func(metadata map[string]any) {
			before, _ := metadata["labels"].(map[string]any)
			labels := maps.Clone(before)
			if labels == nil {
				labels = map[string]any{}
			}
			labels[name] = value
			metadata["labels"] = labels
		})
	})
}

// WithNamespace is set with a Namespace object before all others, if it has none of that
// name. source is what is told about where it comes from.
func WithNamespace(set Set, name, source string) Set {
	namespace := Object{
		Unstructured: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
		}},
		Source: source,
	}
	for _, o := range set.Objects {
		if id := o.ID(); id.GroupKind == namespace.ID().GroupKind && id.Name == name {
			return set
		}
	}
	set.Objects = append([]Object{namespace}, set.Objects...)
	return set
}

// each is set with what change makes of its objects and those of its hooks.
func (s Set) each(change func(Object) Object) Set {
	var changed Set
	for _, o := range s.Objects {
		changed.Objects = append(changed.Objects, change(o))
	}
	for _, h := range s.Hooks {
		h.Object = change(h.Object)
		changed.Hooks = append(changed.Hooks, h)
	}
	return changed
}

func (o Object) withNamespace(namespace string) Object {
	return o.edit(func(metadata map[string]any) {
		if namespace == "" {
			delete(metadata, "namespace")
			return
		}
		metadata["namespace"] = namespace
	})
}

// edit is o with other metadata. It shares all else with o, as neither is changed.
func (o Object) edit(change func(metadata map[string]any)) Object {
	object := maps.Clone(o.Object)
	before, _ := object["metadata"].(map[string]any)
	metadata := maps.Clone(before)
	change(metadata)
	object["metadata"] = metadata
	o.Unstructured = &unstructured.Unstructured{Object: object}
	return o
}
