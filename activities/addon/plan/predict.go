package plan

import (
	"encoding/base64"

	"k8s.io/apimachinery/pkg/runtime"
)

// predict is what applying t would make of t.live, as far as can be told without the
// API server: it knows no defaults, and takes a list that has another length as it is
// rendered.
func (s *session) predict(t *target) map[string]any {
	desired := s.body(t).Object
	if t.id.GroupKind == secretKind {
		foldStringData(desired)
	}
	if t.live == nil {
		return desired
	}
	live := t.live.DeepCopy().Object
	for _, p := range forsaken(t.live, desired) {
		p.remove(live)
	}
	return overlay(live, desired).(map[string]any)
}

// overlay puts top over base, and returns it. It may change base.
func overlay(base, top any) any {
	switch top := top.(type) {
	case map[string]any:
		under, ok := base.(map[string]any)
		if !ok {
			return runtime.DeepCopyJSON(top)
		}
		for key, value := range top {
			if value == nil {
				delete(under, key)
				continue
			}
			under[key] = overlay(under[key], value)
		}
		return under
	case []any:
		under, ok := base.([]any)
		if !ok || len(under) != len(top) {
			return runtime.DeepCopyJSONValue(top)
		}
		for i, value := range top {
			under[i] = overlay(under[i], value)
		}
		return under
	}
	return top
}

// foldStringData does to a Secret what the API server does when it is written.
func foldStringData(secret map[string]any) {
	texts, ok := secret["stringData"].(map[string]any)
	if !ok {
		return
	}
	data, ok := secret["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
		secret["data"] = data
	}
	for key, value := range texts {
		if text, ok := value.(string); ok {
			value = base64.StdEncoding.EncodeToString([]byte(text))
		}
		data[key] = value
	}
	delete(secret, "stringData")
}
