package plan

import (
	"fmt"
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/mask"
)

// What stands for the values of a Secret: whether they change, and nothing else.
const (
	maskedUnchanged = "<unchanged>"
	maskedOld       = "<changed, old>"
	maskedNew       = "<changed, new>"
	maskedAdded     = "<added>"
	maskedRemoved   = "<removed>"
)

// masker hides secrets in objects.
type masker struct{ mask.Mask }

// objects gives copies of an object before and after, without secrets.
func (m masker) objects(kind schema.GroupKind, live, planned map[string]any) (before, after map[string]any) {
	before, after = runtime.DeepCopyJSON(live), runtime.DeepCopyJSON(planned)
	if kind == secretKind {
		for _, secret := range []map[string]any{before, after} {
			foldStringData(secret)
			if _, left := secret["stringData"]; left {
				secret["stringData"] = mask.Masked // it is no map
			}
		}
		maskValues(before, after)
	}
	l, p := m.pair(before, after)
	before, _ = l.(map[string]any)
	after, _ = p.(map[string]any)
	return before, after
}

// maskValues hides the values of a Secret on both sides.
func maskValues(before, after map[string]any) {
	b, inBefore := valuesOf(before)
	a, inAfter := valuesOf(after)
	for _, key := range keysOf(b, a) {
		was, had := b[key]
		is, has := a[key]
		switch {
		case !had:
			a[key] = maskedAdded
		case !has:
			b[key] = maskedRemoved
		case reflect.DeepEqual(was, is):
			b[key], a[key] = maskedUnchanged, maskedUnchanged
		default:
			b[key], a[key] = maskedOld, maskedNew
		}
	}
	if !inBefore {
		delete(before, "data")
	}
	if !inAfter {
		delete(after, "data")
	}
}

// valuesOf is the data of a Secret to be masked in place. Data of a wrong type is
// hidden as a whole.
func valuesOf(secret map[string]any) (values map[string]any, in bool) {
	raw, in := secret["data"]
	if !in {
		return map[string]any{}, false
	}
	values, ok := raw.(map[string]any)
	if !ok {
		secret["data"] = mask.Masked
		return map[string]any{}, true
	}
	return values, true
}

// pair hides the secrets in the two values of one field. Either is nil if it is not
// there.
func (m masker) pair(live, planned any) (before, after any) {
	if live == nil && planned == nil {
		return nil, nil
	}
	switch l, p := shape(live), shape(planned); {
	case l != p && live != nil && planned != nil:
		before, _ = m.pair(live, nil)
		after, _ = m.pair(planned, nil)
		return before, after
	case l == shapeMap || p == shapeMap:
		m.maps(live, planned)
		return live, planned
	case l == shapeList || p == shapeList:
		m.lists(live, planned)
		return live, planned
	}
	return m.leaves(live, planned)
}

const (
	shapeLeaf = iota
	shapeMap
	shapeList
)

func shape(v any) int {
	switch v.(type) {
	case map[string]any:
		return shapeMap
	case []any:
		return shapeList
	}
	return shapeLeaf
}

func (m masker) maps(live, planned any) {
	l, _ := live.(map[string]any)
	p, _ := planned.(map[string]any)
	for _, key := range keysOf(l, p) {
		before, after := m.pair(l[key], p[key])
		if _, ok := l[key]; ok {
			l[key] = before
		}
		if _, ok := p[key]; ok {
			p[key] = after
		}
	}
}

// lists compares elements that have the same name, or else the same place.
func (m masker) lists(live, planned any) {
	l, _ := live.([]any)
	p, _ := planned.([]any)
	names := map[string]int{}
	for i, element := range p {
		names[nameOf(element, i)] = i
	}
	paired := make([]bool, len(p))
	for i := range l {
		j, ok := names[nameOf(l[i], i)]
		if !ok {
			l[i], _ = m.pair(l[i], nil)
			continue
		}
		l[i], p[j] = m.pair(l[i], p[j])
		paired[j] = true
	}
	for j := range p {
		if !paired[j] {
			p[j], _ = m.pair(p[j], nil)
		}
	}
}

func nameOf(element any, i int) string {
	fields, _ := element.(map[string]any)
	if name, ok := fields["name"].(string); ok {
		return "name " + name
	}
	return strconv.Itoa(i)
}

// leaves hides the secrets in two texts or numbers. What a secret takes the place of
// was probably one too.
func (m masker) leaves(live, planned any) (before, after any) {
	before, liveHidden := m.one(live)
	after, plannedHidden := m.one(planned)
	if live == nil || planned == nil || reflect.DeepEqual(live, planned) {
		return before, after
	}
	if plannedHidden && !liveHidden {
		before = mask.Masked
	}
	if plannedHidden && reflect.DeepEqual(before, after) {
		return fmt.Sprint(before, " (old)"), fmt.Sprint(after, " (new)")
	}
	return before, after
}

func (m masker) one(leaf any) (shown any, hidden bool) {
	switch leaf.(type) {
	case nil, bool:
		return leaf, false
	}
	text := fmt.Sprint(leaf)
	if masked := m.Leaf(text); masked != text {
		return masked, true
	}
	return leaf, false
}
