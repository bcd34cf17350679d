package plan

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// bookkeeping is the metadata that the API server writes.
var bookkeeping = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"}

// normal is a copy of an object with what counts: no status, no bookkeeping, no marks
// of who owns it, no ignored fields.
func normal(object map[string]any, ignored []pointer) map[string]any {
	out := runtime.DeepCopyJSON(object)
	delete(out, "status")
	for _, name := range bookkeeping {
		pointer{"metadata", name}.remove(out)
	}
	for _, label := range markLabels {
		pointer{"metadata", "labels", label}.remove(out)
	}
	for _, annotation := range markAnnotations {
		pointer{"metadata", "annotations", annotation}.remove(out)
	}
	for _, p := range ignored {
		p.remove(out)
	}
	return out
}

// change is a field that would have another value. Live is what it has now, nil where
// it is not there.
type change struct {
	Path string
	Live any
}

// compare finds the fields by which planned differs from live, sorted. A list whose
// length differs counts as one field.
func compare(live, planned map[string]any) []change {
	var out []change
	walk("", live, planned, func(c change) { out = append(out, c) })
	slices.SortFunc(out, func(a, b change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func walk(path string, live, planned any, found func(change)) {
	switch l := live.(type) {
	case map[string]any:
		if p, ok := planned.(map[string]any); ok {
			for _, key := range keysOf(l, p) {
				walk(path+"/"+key, l[key], p[key], found)
			}
			return
		}
	case []any:
		if p, ok := planned.([]any); ok && len(l) == len(p) {
			for i := range l {
				walk(path+"/"+strconv.Itoa(i), l[i], p[i], found)
			}
			return
		}
	}
	if !reflect.DeepEqual(live, planned) {
		found(change{Path: path, Live: live})
	}
}

func keysOf(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
