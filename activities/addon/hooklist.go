package addon

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/internal/text"
	"example.com/fairlead/temporal/wire"
)

// maxHookName bounds a name in a history, in bytes.
const maxHookName = 63

// listHooks are the hooks that a set has at some events, in the order in which they run.
func listHooks(set manifest.Set, events ...manifest.Event) ([]wire.AddonHook, error) {
	var list []wire.AddonHook
	for _, event := range events {
		for _, h := range hooks.At(set, event) {
			list = append(list, wire.AddonHook{
				Event: string(event), Kind: h.GetKind(), Name: text.Head(nameOf(h), maxHookName, ""), Works: works(h),
			})
		}
	}
	if len(list) > wire.MaxAddonHooks {
		return nil, fmt.Errorf("%w: the source has %d hooks at %v, and may have %d: set spec.skipHooks to go on without them",
			outcome.ErrPermanent, len(list), events, wire.MaxAddonHooks)
	}
	return list, nil
}

// nameOf the object of a hook; what the name begins with, if the API server is to make one.
func nameOf(h manifest.Hook) string { return cmp.Or(h.GetName(), h.GetGenerateName()) }

// works says whether a hook has an end.
func works(h manifest.Hook) bool {
	switch h.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Kind: "Pod"}:
		return true
	}
	return false
}
