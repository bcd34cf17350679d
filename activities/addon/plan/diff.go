package plan

import (
	"github.com/aymanbagabas/go-udiff"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/internal/text"
)

// MaxDiff bounds the diff of one object.
const MaxDiff = 64 << 10

// diff shows how an object would change, with its secrets masked. Either side is nil
// if the object is not there.
func (s *session) diff(id manifest.ID, live, planned map[string]any) string {
	live, planned = s.mask.objects(id.GroupKind, live, planned)
	whole := udiff.Unified("live", "planned", toYAML(live), toYAML(planned))
	return text.Head(whole, MaxDiff, "\n… the rest of the diff is left out\n")
}

func toYAML(object map[string]any) string {
	if object == nil {
		return ""
	}
	data, err := yaml.Marshal(object)
	if err != nil {
		panic(err) // objects came from JSON
	}
	return string(data)
}
