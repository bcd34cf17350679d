package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scope says whether the objects of a kind are in namespaces, if the kind is known.
type Scope func(gvk schema.GroupVersionKind) (namespaced, known bool)

// withDefinitions knows what scope knows, and what the definitions among objects define.
func (scope Scope) withDefinitions(objects []Object) Scope {
	defined := definedBy(objects)
	return func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		if namespaced, known := scope(gvk); known {
			return namespaced, true
		}
		namespaced, known = defined[gvk.GroupKind()]
		return namespaced, known
	}
}

// definedBy are the kinds of the CustomResourceDefinitions among objects, and whether
// they are namespaced.
func definedBy(objects []Object) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, o := range objects {
		if !IsDefinition(o.GroupVersionKind().GroupKind()) {
			continue
		}
		var gk schema.GroupKind
		gk.Group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
		gk.Kind, _, _ = unstructured.NestedString(o.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(o.Object, "spec", "scope")
		kinds[gk] = scope == "Namespaced"
	}
	return kinds
}
