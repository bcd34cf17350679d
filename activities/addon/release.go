package addon

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/events"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// Release lets the object go: first its sets, then the finalizer. Whatever ends it in
// between, the object is still there and is released by the next call.
func (a *Activities) Release(ctx context.Context, in wire.AddonReleaseInput) error {
	o, found, err := a.get(ctx, in.Addon)
	if err != nil {
		return err
	}
	if o != nil && !found {
		return nil // the sets under that name are another object's
	}
	if found && o.DeletionTimestamp.IsZero() {
		return fmt.Errorf("%w: Addon %s is not being deleted", outcome.ErrSuperseded, in.Addon)
	}
	uninstalled := found && (o.Uninstalls() || o.Status.Phase == addons.PhaseUninstalling)
	if found {
		if err := a.endUninstall(ctx, o); err != nil {
			return err
		}
	}
	if err := a.Store.Drop(ctx, in.Addon.Name); err != nil || !found {
		return err
	}
	return a.letGo(ctx, o, farewell(uninstalled, in.Kept))
}

// endUninstall takes the wish for an uninstall off an object that has been uninstalled. A
// claim would look for the hooks of a render that is about to go.
func (a *Activities) endUninstall(ctx context.Context, o *addons.Addon) error {
	if !o.Uninstalls() {
		return nil
	}
	return a.patch(ctx, o, "end the uninstall of", func() { delete(o.Annotations, addons.AnnotationUninstall) })
}

// letGo takes the finalizer off, and tells people of it.
func (a *Activities) letGo(ctx context.Context, o *addons.Addon, told events.Event) error {
	if !slices.Contains(o.Finalizers, addons.Finalizer) {
		return nil
	}
	err := a.patch(ctx, o, "take the finalizer off", func() {
		o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool { return f == addons.Finalizer })
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	a.Events.Tell(o, told)
	return nil
}

// patch writes a change of o, unless another was written since o was read.
func (a *Activities) patch(ctx context.Context, o *addons.Addon, what string, change func()) error {
	before := o.DeepCopy()
	change()
	err := a.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
	if err != nil {
		return fmt.Errorf("%s Addon %s: %w", what, o.Name, err)
	}
	return nil
}
