package addon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
)

// maxCircle bounds the names of a circle, in bytes.
const maxCircle = 1 << 10

// needs are an add-on and all those that it depends on, directly or not, by name: nil for
// those that do not exist.
type needs struct {
	of  *addons.Addon
	all map[string]*addons.Addon
}

// dependencies reads what o depends on.
func (a *Activities) dependencies(ctx context.Context, o *addons.Addon) (needs, error) {
	n := needs{of: o, all: map[string]*addons.Addon{o.Name: o}}
	queue := []*addons.Addon{o}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, d := range next.Spec.DependsOn {
			if _, known := n.all[d.Name]; known {
				continue
			}
			read := &addons.Addon{}
			err := a.Client.Get(ctx, client.ObjectKey{Name: d.Name}, read)
			if apierrors.IsNotFound(err) {
				n.all[d.Name] = nil
				continue
			}
			if err != nil {
				return needs{}, fmt.Errorf("read Addon %s, which %s depends on: %w", d.Name, next.Name, err)
			}
			n.all[d.Name] = read
			queue = append(queue, read)
		}
	}
	return n, nil
}

// ready says which of the direct dependencies are.
func (n needs) ready() map[string]bool {
	ready := map[string]bool{}
	for _, d := range n.of.Spec.DependsOn {
		other := n.all[d.Name]
		ready[d.Name] = other != nil && other.ReadyForDependents()
	}
	return ready
}

// waits names the direct dependencies that are not ready.
func (n needs) waits() string {
	var words []string
	for _, d := range n.of.Spec.DependsOn {
		if other := n.all[d.Name]; other == nil || !other.ReadyForDependents() {
			words = append(words, d.Name+", which "+stateOf(other))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "waits for " + strings.Join(words, "; ")
}

// stateOf an add-on that is not ready, in words.
func stateOf(o *addons.Addon) string {
	switch {
	case o == nil:
		return "does not exist"
	case !o.DeletionTimestamp.IsZero():
		return "is being deleted"
	case o.Status.ObservedGeneration != o.Generation && o.Status.Phase == addons.PhaseSynced:
		return "was changed and is not synced yet"
	case o.Status.Phase == addons.PhaseSynced && o.Status.Health != nil:
		return "is " + string(o.Status.Health.Status)
	case o.Status.Phase == addons.PhaseSynced:
		return "is Synced, and not known to work"
	}
	return "is " + string(cmp.Or(o.Status.Phase, addons.PhasePending))
}

// circle says how the add-on depends on itself; empty if it does not.
func (n needs) circle() string {
	path := n.pathBack(n.of, map[string]bool{})
	if path == nil {
		return ""
	}
	slices.Reverse(path)
	words := strings.Join(append([]string{n.of.Name}, path...), " -> ")
	return fmt.Sprintf("dependsOn is a circle: %s: take one out", text.Middle(words, maxCircle))
}

// pathBack is a way from an add-on to the one that needs are of, the end first; nil for
// none.
func (n needs) pathBack(from *addons.Addon, seen map[string]bool) []string {
	for _, d := range from.Spec.DependsOn {
		if d.Name == n.of.Name {
			return []string{d.Name}
		}
		next := n.all[d.Name]
		if next == nil || seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		if path := n.pathBack(next, seen); path != nil {
			return append(path, d.Name)
		}
	}
	return nil
}
