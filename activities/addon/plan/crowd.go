package plan

import (
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/manifest"
)

// crowd is what the objects of a set are to each other.
type crowd struct {
	first map[manifest.ID]*target
	// kinds has what defines a kind, by group and kind, and by group and version for
	// those of an APIService.
	kinds map[string]manifest.ID
	// absent are the objects that come into being with the plan.
	absent map[manifest.ID]bool
}

func newCrowd(targets []*target) crowd {
	c := crowd{first: map[manifest.ID]*target{}, kinds: map[string]manifest.ID{}, absent: map[manifest.ID]bool{}}
	for _, t := range targets {
		if c.first[t.id] == nil {
			c.first[t.id] = t
		}
		group, _, _ := unstructured.NestedString(t.Object.Object, "spec", "group")
		switch {
		case manifest.IsDefinition(t.id.GroupKind):
			kind, _, _ := unstructured.NestedString(t.Object.Object, "spec", "names", "kind")
			c.kinds[kind+"."+group] = t.id
		case t.id.GroupKind == apiServiceKind:
			version, _, _ := unstructured.NestedString(t.Object.Object, "spec", "version")
			c.kinds[group+"/"+version] = t.id
		}
	}
	return c
}

// missing notes which targets do not exist.
func (c crowd) missing(targets []*target) {
	for _, t := range targets {
		if t.live == nil {
			c.absent[t.id] = true
		}
	}
}

// provides says what of the set makes the cluster serve a kind. It is empty if nothing
// does.
func (c crowd) provides(k schema.GroupVersionKind) string {
	for _, key := range []string{k.Kind + "." + k.Group, k.GroupVersion().String()} {
		if id, ok := c.kinds[key]; ok {
			return id.String() + " comes in the same plan"
		}
	}
	return ""
}

// definition is the CustomResourceDefinition of the set that defines the kind of t.
func (c crowd) definition(t *target) (manifest.ID, bool) {
	id, ok := c.kinds[t.id.Kind+"."+t.id.Group]
	return id, ok && t.id.Group != ""
}

// serves is whether a CustomResourceDefinition of the cluster has the version.
func serves(definition *unstructured.Unstructured, version string) bool {
	if definition == nil {
		return false
	}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	return slices.ContainsFunc(versions, func(v any) bool {
		fields, _ := v.(map[string]any)
		return fields["name"] == version && fields["served"] == true
	})
}

// named is the object that comes with the plan and that text, the API server's about
// another object, says is not there.
func (c crowd) named(text string, about manifest.ID) (manifest.ID, bool) {
	if !strings.Contains(text, "not found") && !strings.Contains(text, " was found") {
		return manifest.ID{}, false
	}
	said := words(text)
	kinds := strings.ToLower(text)
	var found []manifest.ID
	for id := range c.absent {
		near := id.Namespace == "" || id.Namespace == about.Namespace
		if id != about && near && said[id.Name] && strings.Contains(kinds, strings.ToLower(id.Kind)) {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return manifest.ID{}, false
	}
	return slices.MinFunc(found, func(a, b manifest.ID) int { return strings.Compare(a.String(), b.String()) }), true
}

// words are those of text, without what the API server puts around names.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-.:", r)
	}) {
		out[strings.Trim(word, ".:")] = true
	}
	return out
}
