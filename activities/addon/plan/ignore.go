package plan

import (
	"slices"
	"strconv"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func matches(i addons.IgnoredDifference, id manifest.ID) bool {
	return i.Group == id.Group && i.Kind == id.Kind &&
		(i.Namespace == "" || i.Namespace == id.Namespace) && (i.Name == "" || i.Name == id.Name)
}

// pointer is a parsed JSON pointer.
type pointer []string

func parsePointer(text string) pointer {
	parts := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts
}

// ignored are the fields of t that the add-on leaves as they are.
func (s *session) ignored(t *target) []pointer {
	var out []pointer
	for _, i := range s.Ignore {
		if matches(i, t.id) {
			for _, text := range i.JSONPointers {
				out = append(out, parsePointer(text))
			}
		}
	}
	return append(out, s.othersFields(t)...)
}

// get is the value at p in tree.
func (p pointer) get(tree any) (any, bool) {
	if len(p) == 0 {
		return tree, true
	}
	switch node := tree.(type) {
	case map[string]any:
		child, ok := node[p[0]]
		if !ok {
			return nil, false
		}
		return p[1:].get(child)
	case []any:
		i, err := strconv.Atoi(p[0])
		if err != nil || i < 0 || i >= len(node) {
			return nil, false
		}
		return p[1:].get(node[i])
	}
	return nil, false
}

// remove takes the value at p out of tree, and the maps that become empty. It gives
// the tree, which is another slice if an element of a list went.
func (p pointer) remove(tree any) any {
	if len(p) == 0 {
		return nil
	}
	switch node := tree.(type) {
	case map[string]any:
		child, ok := node[p[0]]
		if !ok {
			return tree
		}
		rest := p[1:].remove(child)
		if m, isMap := rest.(map[string]any); len(p) == 1 || isMap && len(m) == 0 {
			delete(node, p[0])
		} else {
			node[p[0]] = rest
		}
	case []any:
		i, err := strconv.Atoi(p[0])
		if err != nil || i < 0 || i >= len(node) {
			return tree
		}
		if len(p) == 1 {
			return slices.Delete(node, i, i+1)
		}
		node[i] = p[1:].remove(node[i])
	}
	return tree
}

// set puts value at p if what is above it is there.
func (p pointer) set(tree, value any) {
	parent, ok := p[:len(p)-1].get(tree)
	if !ok {
		return
	}
	last := p[len(p)-1]
	switch node := parent.(type) {
	case map[string]any:
		node[last] = value
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i >= 0 && i < len(node) {
			node[i] = value
		}
	}
}
