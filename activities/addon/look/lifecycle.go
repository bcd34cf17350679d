package look

import (
	"errors"
	"fmt"
	"slices"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// Lifecycles of a sync, by the words of Helm. None is that of one that runs no hooks.
const (
	None    = ""
	Install = "install"
	Upgrade = "upgrade"
)

// MaxHooks is how many hooks a sync may have: a history has their names.
const MaxHooks = 200

// ErrTooManyHooks is that of a source with more hooks than a sync may run.
var ErrTooManyHooks = errors.New("too many hooks")

// Step is a hook at one of its events.
type Step struct {
	manifest.Hook

	Event manifest.Event
}

// lifecycle of a sync now. One that has begun goes on as what it is: it may have come as far
// as its last hook.
func lifecycle(a *addons.Addon, content string) string {
	s := &a.Status
	switch {
	case s.Sync != nil && s.Sync.Hash == content:
		return s.Sync.Lifecycle
	case !s.Adopted && !a.Spec.Adopt:
		return Install
	case s.Adopted && s.AppliedHash != "" && s.AppliedHash != content:
		return Upgrade
	}
	return None
}

// events of a lifecycle: before the objects, and after them.
func events(lifecycle string) []manifest.Event {
	if lifecycle == None {
		return nil
	}
	return []manifest.Event{manifest.Event("pre-" + lifecycle), manifest.Event("post-" + lifecycle)}
}

// steps are the hooks that a sync runs, in their order.
func steps(a *addons.Addon, set manifest.Set, lifecycle string) ([]Step, error) {
	var out []Step
	for _, event := range events(lifecycle) {
		for _, h := range hooks.At(set, event) {
			out = append(out, Step{Hook: h, Event: event})
		}
	}
	switch {
	case a.Spec.SkipHooks:
		return nil, nil
	case len(out) > MaxHooks:
		return nil, fmt.Errorf("%w: a sync would run %d, and may run %d: set skipHooks, or have fewer in the chart", ErrTooManyHooks, len(out), MaxHooks)
	}
	return out, nil
}

// those are the hooks of a lifecycle, each once.
func those(all []manifest.Hook, lifecycle string, skip bool) []manifest.Hook {
	if skip {
		return nil
	}
	of := events(lifecycle)
	var out []manifest.Hook
	for _, h := range all {
		if slices.ContainsFunc(h.Events, func(e manifest.Event) bool { return slices.Contains(of, e) }) {
			out = append(out, h)
		}
	}
	return out
}
