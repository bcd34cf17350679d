// Package health says how the objects that an add-on applied are: applied is not the same as
// working.
package health

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Verdict is how one object is.
type Verdict struct {
	Status addons.HealthStatus
	// Message says why it is not Healthy.
	Message string
}

// Judge says how live is, by what its controller wrote to its status. The rules are those of
// kstatus, except where byKind and custom know more.
func Judge(live *unstructured.Unstructured) Verdict {
	if live.GetDeletionTimestamp() != nil {
		return deleting(live)
	}
	live = conventional(live)
	if v, ok := unobserved(live); ok {
		return v
	}
	if v, ok := byKind(live); ok {
		return v
	}
	result, err := status.Compute(live)
	if err != nil {
		return Verdict{addons.HealthUnknown, "its status is not understood: " + err.Error()}
	}
	switch result.Status {
	case status.CurrentStatus:
		return custom(live)
	case status.FailedStatus:
		return Verdict{addons.HealthDegraded, explained(result)}
	default:
		return Verdict{addons.HealthProgressing, joined(counted(live.GetKind(), explained(result)), failure(live))}
	}
}

func deleting(live *unstructured.Unstructured) Verdict {
	message := "is being deleted"
	if on := live.GetFinalizers(); len(on) > 0 {
		message += ", held by the finalizers " + strings.Join(on, ", ")
	}
	return Verdict{addons.HealthProgressing, message}
}

// unobserved is the verdict on an object whose status speaks of an older spec.
func unobserved(live *unstructured.Unstructured) (Verdict, bool) {
	seen, ok, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
	if !ok || live.GetGeneration() == 0 || seen == live.GetGeneration() {
		return Verdict{}, false
	}
	return Verdict{addons.HealthProgressing, "its controller has not seen the last change yet"}, true
}

// custom is the verdict on what kstatus found nothing wrong with. Where kstatus has no rule
// for a kind, it looks at neither Available nor the generation of a condition.
func custom(live *unstructured.Unstructured) Verdict {
	if status.GetLegacyConditionsFn(live) != nil {
		return Verdict{Status: addons.HealthHealthy}
	}
	c, ok := conditionOf(live, "Ready") // the sum of what a controller knows, if it has it
	if !ok {
		c, ok = conditionOf(live, "Available")
	}
	switch {
	case ok && c.observed > 0 && c.observed < live.GetGeneration():
		return Verdict{addons.HealthProgressing, "its condition " + c.kind + " does not speak of the last change yet"}
	case ok && c.status != "True":
		return Verdict{addons.HealthProgressing, c.words()}
	default:
		return Verdict{Status: addons.HealthHealthy}
	}
}
