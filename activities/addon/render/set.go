package render

import (
	"cmp"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/release"

	"example.com/fairlead/activities/addon/manifest"
)

// Set is the objects and hooks of the result, each in the order in which Helm creates them:
// objects of crds folders first, then by kind; hooks by weight, then by name. Hooks of tests and of
// rollbacks, which nothing here runs, are not in it.
func (r *Result) Set() (manifest.Set, error) {
	set, err := r.set()
	return set, shown(err, r.secrets)
}

func (r *Result) set() (manifest.Set, error) {
	var set manifest.Set
	for _, d := range r.crds {
		objects, err := manifest.Parse(d.source, []byte(d.text))
		if err != nil {
			return manifest.Set{}, err
		}
		for i := range objects {
			objects[i].CRD = true
		}
		set.Objects = append(set.Objects, objects...)
	}
	for _, d := range r.documents {
		objects, err := manifest.Parse(d.source, []byte(d.text))
		if err != nil {
			return manifest.Set{}, err
		}
		set.Objects = append(set.Objects, objects...)
	}
	var err error
	set.Hooks, err = hooksOf(r.hooks)
	return set, err
}

func hooksOf(all []*release.Hook) ([]manifest.Hook, error) {
	inOrder := slices.Clone(all)
	slices.SortStableFunc(inOrder, func(a, b *release.Hook) int { // by kind until now
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	})
	var hooks []manifest.Hook
	for _, h := range inOrder {
		events := eventsOf(h)
		if len(events) == 0 {
			continue
		}
		objects, err := manifest.Parse(h.Path, []byte(h.Manifest))
		if err != nil {
			return nil, fmt.Errorf("hook %s: %w", h.Name, err)
		}
		for _, o := range objects { // several, if the hook is a List
			hooks = append(hooks, manifest.Hook{
				Object: o, Events: events, Weight: h.Weight, DeletePolicies: policiesOf(h), LogPolicies: logPoliciesOf(h),
			})
		}
	}
	return hooks, nil
}

// events are those of Helm that something here runs hooks at.
var events = []manifest.Event{
	manifest.PreInstall, manifest.PostInstall, manifest.PreUpgrade,
	manifest.PostUpgrade, manifest.PreDelete, manifest.PostDelete,
}

func eventsOf(h *release.Hook) []manifest.Event {
	var known []manifest.Event
	for _, e := range h.Events {
		if event := manifest.Event(e); slices.Contains(events, event) {
			known = append(known, event)
		}
	}
	return known
}

// policiesOf keeps words that are no policy: like Helm, the default is for hooks that say nothing.
func policiesOf(h *release.Hook) []manifest.DeletePolicy {
	if len(h.DeletePolicies) == 0 {
		return []manifest.DeletePolicy{manifest.BeforeHookCreation}
	}
	policies := make([]manifest.DeletePolicy, len(h.DeletePolicies))
	for i, p := range h.DeletePolicies {
		policies[i] = manifest.DeletePolicy(p)
	}
	return policies
}

func logPoliciesOf(h *release.Hook) []manifest.LogPolicy {
	var policies []manifest.LogPolicy
	for _, p := range h.OutputLogPolicies {
		policies = append(policies, manifest.LogPolicy(p))
	}
	return policies
}
