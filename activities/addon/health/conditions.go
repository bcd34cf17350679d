package health

import (
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// conventional is live with nothing in its status that has the name but not the type of the
// conventions, which kstatus gives up on: Argo Rollouts have an observedGeneration that is text.
func conventional(live *unstructured.Unstructured) *unstructured.Unstructured {
	object := maps.Clone(live.Object)
	delete(object, "status")
	if old, ok := live.Object["status"].(map[string]any); ok {
		fields := maps.Clone(old)
		keep(fields, "observedGeneration", generation)
		keep(fields, "conditions", conditions)
		object["status"] = fields
	}
	return &unstructured.Unstructured{Object: object}
}

// keep changes a field to what it is understood as, if it is.
func keep(fields map[string]any, name string, understood func(any) (any, bool)) {
	if value, ok := understood(fields[name]); ok {
		fields[name] = value
	} else {
		delete(fields, name)
	}
}

func generation(value any) (any, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	default:
		return nil, false
	}
}

func conditions(value any) (any, bool) {
	list, _ := value.([]any)
	var kept []any
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		c := map[string]any{}
		for _, name := range []string{"type", "status", "reason", "message"} {
			if s, ok := fields[name].(string); ok {
				c[name] = s
			}
		}
		if n, ok := generation(fields["observedGeneration"]); ok {
			c["observedGeneration"] = n
		}
		kept = append(kept, c)
	}
	return kept, len(kept) > 0
}

// condition of an object, as its controller wrote it.
type condition struct {
	kind, status, reason, message string
	// observed is the generation of the object that it speaks of, 0 if it does not tell.
	observed int64
}

// conditionOf is the condition of a type in a conventional status.
func conditionOf(live *unstructured.Unstructured, kind string) (condition, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(live.Object, "status", "conditions")
	list, _ := value.([]any)
	for _, item := range list {
		fields, _ := item.(map[string]any)
		if fields["type"] != kind {
			continue
		}
		c := condition{kind: kind}
		c.status, _ = fields["status"].(string)
		c.reason, _ = fields["reason"].(string)
		c.message, _ = fields["message"].(string)
		c.observed, _ = fields["observedGeneration"].(int64)
		return c, true
	}
	return condition{}, false
}

// words are why the condition is as it is.
func (c condition) words() string {
	if why := joined(c.reason, c.message); why != "" {
		return why
	}
	return "its condition " + c.kind + " is " + c.status
}

// failure is what kept a controller from making pods, as a quota.
func failure(live *unstructured.Unstructured) string {
	if c, ok := conditionOf(live, "ReplicaFailure"); ok && c.status == "True" {
		return c.message
	}
	return ""
}
