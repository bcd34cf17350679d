package render

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
)

// ErrRandomName is of a chart that names an object anew in each render, which no stored value
// can be put back into.
var ErrRandomName = errors.New("an object has another name in each render: give it a fixed one in the values")

// Path is where in a set a value is.
type Path struct {
	Object manifest.ID
	// Hook says that the object is a hook, and Nth which of those with this ID.
	Hook bool
	Nth  int
	// Fields lead to the value. In a list it is an element's name, as name=web, if all
	// elements have one of their own, else its index. There are none if the object as a whole
	// differs, as one that has a field in some renders only.
	Fields []string
}

func (p Path) String() string { return p.Object.String() + " ." + strings.Join(p.Fields, ".") }

// Random are the values that differ between two renders of the same input. What is in one of
// them only, and lists of another length, make the map or list that they are in random as a
// whole; and so is a text as a whole, whatever else is in it. A time is found only if it moved
// between the renders.
func Random(a, b manifest.Set) ([]Path, error) {
	first, second := placesOf(a), placesOf(b)
	for _, pair := range [][2]map[place]manifest.Object{{first, second}, {second, first}} {
		if odd := notIn(pair[0], pair[1]); odd != nil {
			return nil, fmt.Errorf("%s makes %s: %w", odd.Source, odd.ID(), ErrRandomName)
		}
	}
	var paths []Path
	for _, at := range sortedPlaces(first) {
		for _, fields := range differing(first[at].Object, second[at].Object, nil) {
			paths = append(paths, Path{Object: at.id, Hook: at.hook, Nth: at.nth, Fields: fields})
		}
	}
	return paths, nil
}

// Keep is fresh with the values of stored at the paths. Where stored or fresh has nothing at a
// path, as in an object that is new, fresh stays as it is. Neither set is changed.
func Keep(stored, fresh manifest.Set, paths []Path) manifest.Set {
	before := placesOf(stored)
	kept := manifest.Set{Objects: slices.Clone(fresh.Objects), Hooks: slices.Clone(fresh.Hooks)}
	byPlace := map[place][]Path{}
	for _, p := range paths {
		at := place{hook: p.Hook, id: p.Object, nth: p.Nth}
		byPlace[at] = append(byPlace[at], p)
	}
	visit(kept, func(at place, o *manifest.Object) {
		old, ok := before[at]
		if !ok || len(byPlace[at]) == 0 {
			return
		}
		o.Unstructured = o.DeepCopy()
		for _, p := range byPlace[at] {
			if len(p.Fields) == 0 {
				o.Unstructured = old.DeepCopy()
				return
			}
			if value, ok := find(old.Object, p.Fields); ok {
				replace(o.Object, p.Fields, value)
			}
		}
	})
	return kept
}

// place is an object's in its set. A hook may have the ID of another hook.
type place struct {
	hook bool
	id   manifest.ID
	nth  int
}

// visit calls f with each object of the set, and its place.
func visit(set manifest.Set, f func(place, *manifest.Object)) {
	seen := map[place]int{}
	next := func(hook bool, o *manifest.Object) {
		at := place{hook: hook, id: o.ID()}
		nth := seen[at]
		seen[at]++
		at.nth = nth
		f(at, o)
	}
	for i := range set.Objects {
		next(false, &set.Objects[i])
	}
	for i := range set.Hooks {
		next(true, &set.Hooks[i].Object)
	}
}

func placesOf(set manifest.Set) map[place]manifest.Object {
	places := map[place]manifest.Object{}
	visit(set, func(at place, o *manifest.Object) { places[at] = *o })
	return places
}

func sortedPlaces(places map[place]manifest.Object) []place {
	return slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}

// notIn is the first object of a that b has not, or nil.
func notIn(a, b map[place]manifest.Object) *manifest.Object {
	for _, at := range sortedPlaces(a) {
		if _, ok := b[at]; !ok {
			odd := a[at]
			return &odd
		}
	}
	return nil
}

// differing are the paths below at of what differs between a and b.
func differing(a, b any, at []string) [][]string {
	inA, isContainer := children(a)
	inB, isToo := children(b)
	sameKeys := maps.EqualFunc(inA, inB, func(any, any) bool { return true })
	if !isContainer || !isToo || !sameKeys || reflect.TypeOf(a) != reflect.TypeOf(b) {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return [][]string{slices.Clone(at)}
	}
	var paths [][]string
	for _, key := range slices.Sorted(maps.Keys(inA)) {
		paths = append(paths, differing(inA[key], inB[key], append(at, key))...)
	}
	return paths
}

// children are the values in a map or a list, by the words of a Path.
func children(v any) (map[string]any, bool) {
	switch in := v.(type) {
	case map[string]any:
		return in, true
	case []any:
		out := make(map[string]any, len(in))
		for i, key := range keysOf(in) {
			out[key] = in[i]
		}
		return out, true
	}
	return nil, false
}

// keysOf are the words by which a Path tells the elements of a list.
func keysOf(list []any) []string {
	names, indices := make([]string, len(list)), make([]string, len(list))
	seen := map[string]bool{}
	for i, v := range list {
		element, _ := v.(map[string]any)
		name, _ := element["name"].(string)
		seen[name] = true
		names[i], indices[i] = "name="+name, strconv.Itoa(i)
	}
	if len(seen) < len(list) || seen[""] {
		return indices
	}
	return names
}

func find(v any, fields []string) (any, bool) {
	for _, key := range fields {
		in, _ := children(v)
		var ok bool
		if v, ok = in[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// replace puts value where fields lead to, if something is there.
func replace(v any, fields []string, value any) {
	last := len(fields) - 1
	parent, ok := find(v, fields[:last])
	if !ok {
		return
	}
	switch in := parent.(type) {
	case map[string]any:
		if _, ok := in[fields[last]]; ok {
			in[fields[last]] = value
		}
	case []any:
		if i := slices.Index(keysOf(in), fields[last]); i >= 0 {
			in[i] = value
		}
	}
}
