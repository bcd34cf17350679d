package starter

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// dependencyIndex finds the Addons that wait for another one.
const dependencyIndex = "spec.dependsOn"

// AddAddons puts the watch on Addons on mgr. The rights that it needs are in
// deploy/rbac/rendimiento-addons.yaml: who has no add-ons gives none.
func AddAddons(ctx context.Context, mgr manager.Manager, signaller *Signaller) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &addons.Addon{}, dependencyIndex, func(o client.Object) []string {
		a, ok := o.(*addons.Addon)
		if !ok {
			return nil
		}
		var names []string
		for _, d := range a.Spec.DependsOn {
			names = append(names, d.Name)
		}
		return names
	})
	if err != nil {
		return fmt.Errorf("index Addons by what they depend on: %w", err)
	}
	dependencies := source.TypedKind(mgr.GetCache(), &addons.Addon{}, handler.TypedEnqueueRequestsFromMapFunc(dependents(mgr.GetClient())))
	return add(mgr, addonKind(signaller), dependencies)
}

func addonKind(s *Signaller) kind[*addons.Addon] {
	return kind[*addons.Addon]{
		resend:   10 * time.Minute, // a thousand at once take their time
		name:     "Addon",
		blank:    func() *addons.Addon { return &addons.Addon{} },
		inputs:   addonInputs,
		observed: func(a *addons.Addon) string { return a.Status.ObservedInputs },
		changed:  func(ctx context.Context, k key) error { return s.AddonChanged(ctx, k.addon()) },
		gone:     func(ctx context.Context, k key) error { return s.AddonGone(ctx, k.addon()) },
	}
}

func (k key) addon() wire.AddonRef { return wire.AddonRef{Name: k.Name, UID: string(k.UID)} }

func addonInputs(ctx context.Context, cache client.Reader, a *addons.Addon) (string, error) {
	ready := map[string]bool{}
	for _, d := range a.Spec.DependsOn {
		var dependency addons.Addon
		err := cache.Get(ctx, types.NamespacedName{Name: d.Name}, &dependency)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return "", fmt.Errorf("read Addon %s, on which %s depends: %w", d.Name, a.Name, err)
		default:
			ready[d.Name] = dependency.ReadyForDependents()
		}
	}
	return a.Inputs(ready), nil
}

// dependents names the Addons that wait for another one.
func dependents(cache client.Reader) handler.TypedMapFunc[*addons.Addon, key] {
	return func(ctx context.Context, a *addons.Addon) []key {
		var list addons.AddonList
		// A list from the cache fails only while the manager stops.
		if err := cache.List(ctx, &list, client.MatchingFields{dependencyIndex: a.Name}, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		var keys []key
		for i := range list.Items {
			keys = append(keys, keyOf(&list.Items[i]))
		}
		return keys
	}
}
