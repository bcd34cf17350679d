package manifest

import (
	"errors"
	"fmt"
)

// Check is an error about all objects of a placed set that cannot be told apart: two that
// are the same one, also in versions of its API, and those without a name. Hooks may be
// both, as they are created anew each time.
func Check(set Set) error {
	var all []error
	first := make(map[ID]Object, len(set.Objects))
	for _, o := range set.Objects {
		if o.GetName() == "" {
			all = append(all, fmt.Errorf("%s: %s has a generateName for its name: only hooks can, give it a name",
				o.Source, o.GetKind()))
			continue
		}
		before, taken := first[o.ID()]
		if !taken {
			first[o.ID()] = o
			continue
		}
		all = append(all, fmt.Errorf("%s is in %s (as %s) and in %s (as %s): leave one of them out",
			o.ID(), before.Source, before.GetAPIVersion(), o.Source, o.GetAPIVersion()))
	}
	return errors.Join(all...)
}
