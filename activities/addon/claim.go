package addon

import (
	"context"
	"fmt"
	"slices"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/api/addons/approve"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Claim reads the truth about an Addon. The finalizer goes on first, so that nothing is
// applied for an object that could vanish; an object that is already being deleted gets
// none.
func (a *Activities) Claim(ctx context.Context, ref wire.AddonRef) (wire.AddonClaim, error) {
	var claim wire.AddonClaim
	o, found, err := a.get(ctx, ref)
	if err != nil {
		return wire.AddonClaim{}, err
	}
	if !found {
		claim.Gone = true
		return claim, nil
	}
	claim.Deleting = !o.DeletionTimestamp.IsZero()
	if !claim.Deleting && !slices.Contains(o.Finalizers, addons.Finalizer) {
		// The lock keeps a deletion that came in between from getting a finalizer.
		err := a.patch(ctx, o, "put the finalizer on", func() { o.Finalizers = append(o.Finalizers, addons.Finalizer) })
		if err != nil {
			return wire.AddonClaim{}, err
		}
	}
	claim.Generation = o.Generation
	claim.Uninstall = o.Uninstalls()
	claim.Suspended = o.Suspended()
	claim.ManualSync = o.Spec.ManualSync
	claim.AllowAdoptChanges = o.Spec.AllowAdoptChanges
	claim.Approve = o.Spec.Approve
	claim.SyncRequest = o.Spec.SyncRequest
	claim.Approver.Name, claim.Approver.Verified = approve.Approver(o, a.Store.Hash)
	claim.HookTimeout = o.Spec.HookLimit()
	claim.Stored = fromStatus(&o.Status)
	if claim.Deleting {
		claim.Inputs = o.Inputs(nil)
		claim.Hooks, claim.Problem, err = a.lastHooks(ctx, o)
		return claim, err
	}
	needs, err := a.dependencies(ctx, o)
	if err != nil {
		return wire.AddonClaim{}, err
	}
	claim.Inputs, claim.Waits, claim.Problem = o.Inputs(needs.ready()), needs.waits(), needs.circle()
	return claim, nil
}

// lastHooks are those that an uninstall of o runs, or why it cannot: a render that is lost
// may have had some, and to go on without them is for people to decide.
func (a *Activities) lastHooks(ctx context.Context, o *addons.Addon) (list []wire.AddonHook, problem string, err error) {
	if !o.Uninstalls() || o.Spec.SkipHooks || o.Status.Sets == nil || o.Status.Sets.Render == "" {
		return nil, "", nil
	}
	r, err := a.Store.Render(ctx, setstore.Digest(o.Status.Sets.Render))
	switch {
	case setstore.IsLost(err):
		return nil, fmt.Sprintf("the render that was applied is lost, and with it the hooks of an uninstall: set spec.skipHooks to uninstall without them, "+
			"or take the annotation %s off to leave the objects in the cluster: %s", addons.AnnotationUninstall, err), nil
	case err != nil:
		return nil, "", fmt.Errorf("read the hooks of Addon %s: %w", o.Name, err)
	}
	for _, event := range deletion {
		for _, h := range hooks.At(r.Set, event) {
			list = append(list, wireHook(event, h))
		}
	}
	if len(list) > look.MaxHooks {
		return nil, fmt.Sprintf("an uninstall would run %d hooks, and may run %d: set spec.skipHooks to go on without them", len(list), look.MaxHooks), nil
	}
	return list, "", nil
}
