package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// applied are the fields of live that the add-ons' manager has applied.
func applied(live *unstructured.Unstructured) *fieldpath.Set {
	return fieldsOf(live, func(e metav1.ManagedFieldsEntry) bool { return ours(e) })
}

func ours(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == addons.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
}

// fieldsOf joins the fields of the managers that match.
func fieldsOf(live *unstructured.Unstructured, match func(metav1.ManagedFieldsEntry) bool) *fieldpath.Set {
	all := fieldpath.NewSet()
	for _, e := range live.GetManagedFields() {
		if !match(e) || e.FieldsV1 == nil {
			continue
		}
		var one fieldpath.Set
		// An entry that cannot be read is nobody's: the API server wrote it.
		if err := one.FromJSON(e.FieldsV1.GetRawReader()); err == nil {
			all = all.Union(&one)
		}
	}
	return all
}

// ownedAt is whether the add-ons' manager has applied the field at p. It knows no
// fields inside of lists.
func ownedAt(live *unstructured.Unstructured, p pointer) bool {
	path := make(fieldpath.Path, len(p))
	for i := range p {
		path[i] = fieldpath.FieldNameElement(p[i])
	}
	return applied(live).Has(path)
}

// forsaken are the fields of live that the add-ons' manager alone has applied, and
// that desired has no more: the API server would remove them.
func forsaken(live *unstructured.Unstructured, desired map[string]any) []pointer {
	others := fieldsOf(live, func(e metav1.ManagedFieldsEntry) bool { return !ours(e) })
	var out []pointer
	for _, path := range only(applied(live), others) {
		p, ok := plainPointer(path)
		if !ok {
			continue
		}
		if _, kept := p.get(desired); !kept {
			out = append(out, p)
		}
	}
	return out
}

// only are the fields of a that b has no part of, those above before those within.
func only(a, b *fieldpath.Set) []fieldpath.Path {
	var out []fieldpath.Path
	for path := range a.All() {
		if !b.Has(path) && within(b, path).Empty() {
			out = append(out, path.Copy())
		}
	}
	slices.SortStableFunc(out, func(p, q fieldpath.Path) int { return len(p) - len(q) })
	return out
}

func within(s *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		s = s.WithPrefix(element)
	}
	return s
}

// plainPointer is path as a pointer, if it leads through no list.
func plainPointer(path fieldpath.Path) (pointer, bool) {
	out := make(pointer, len(path))
	for i, element := range path {
		if element.FieldName == nil {
			return nil, false
		}
		out[i] = *element.FieldName
	}
	return out, true
}
