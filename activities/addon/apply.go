package addon

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Apply does a part of a plan. What was done already counts as done, so it may be repeated.
func (a *Activities) Apply(ctx context.Context, in wire.AddonApplyInput) (wire.AddonApplied, error) {
	tell, stop := pulse(ctx)
	defer stop()
	w, err := a.work(ctx, in)
	if err != nil {
		return wire.AddonApplied{}, err
	}
	these, before := w.part(in.Part)
	applier := &apply.Applier{Planner: a.Look.Planner(), Progress: tell}
	done, err := applier.Apply(ctx, w.request, &w.Plan.Plan, these)
	out := wire.AddonApplied{Written: written(done), Defined: w.defines(these)}
	if out.Defined {
		a.Look.Cluster.Refresh()
	}
	if err == nil && in.Part != wire.PartEarly {
		err = applier.Prune(ctx, w.request, &w.Plan.Plan)
	}
	switch {
	case err != nil:
		e := endOf(err, w.secrets)
		out.Moved, out.Failed = e.moved, e.failed
		return out, e.again
	case in.Part == wire.PartEarly:
		return out, nil
	}
	out.Deleted = w.Counts.Prune
	return out, a.settled(ctx, w, done, before, &out)
}

// work is a plan with all that it takes to do it.
type work struct {
	kept.Plan

	addon   *addons.Addon
	set     manifest.Set
	request plan.Request
	secrets mask.Mask
}

func (a *Activities) work(ctx context.Context, in wire.AddonApplyInput) (*work, error) {
	o, err := a.present(ctx, in.Addon)
	if err != nil {
		return nil, err
	}
	w := &work{addon: o}
	if w.Plan, err = a.Store.Plan(ctx, setstore.Digest(in.Plan)); err != nil {
		return nil, lost(err)
	}
	render, err := a.Store.Render(ctx, w.Render)
	if err != nil {
		return nil, lost(err)
	}
	previous, err := a.Look.Inventory(ctx, o.Name, w.Previous)
	if err != nil {
		return nil, judged(err)
	}
	secrets, err := a.Look.Sources.Secrets(ctx, o)
	if err != nil {
		return nil, err
	}
	w.set = render.Set
	w.secrets = look.Mask(w.set, secrets)
	w.request = look.Request(o, w.set, previous, secrets)
	w.request.ReplaceAllowed = w.request.ReplaceAllowed && in.Approved
	return w, nil
}

// lost is err of a plan or a render. Those that are not there any more are made by another
// look.
func lost(err error) error {
	if setstore.IsLost(err) {
		return fmt.Errorf("%w: %w", outcome.ErrLost, err)
	}
	return err
}

// part is what of the set is to be applied, and what was before it.
func (w *work) part(which string) (these, before []manifest.Object) {
	if which == wire.PartAll {
		return w.set.Objects, nil
	}
	var early, rest []manifest.Object
	for _, o := range w.set.Objects {
		home := o.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Namespace"}) && o.GetName() == w.addon.Spec.Namespace
		if o.CRD || home {
			early = append(early, o)
		} else {
			rest = append(rest, o)
		}
	}
	if which == wire.PartEarly {
		return early, nil
	}
	return rest, early
}

// defines says whether the plan changes the kinds of the cluster by objects. It goes by the
// plan and not by what was written: an attempt before this one may have written it.
func (w *work) defines(objects []manifest.Object) bool {
	changes := map[manifest.ID]bool{}
	for _, item := range w.Items {
		changes[item.ID] = item.Action != plan.Unchanged
	}
	for _, o := range objects {
		if manifest.IsDefinition(o.GroupVersionKind().GroupKind()) && changes[o.ID()] {
			return true
		}
	}
	return false
}

func written(done []apply.Done) int {
	n := 0
	for _, d := range done {
		if d.Written {
			n++
		}
	}
	return n
}

// settled keeps the inventory of a plan that was done whole, and says how all of it is.
func (a *Activities) settled(ctx context.Context, w *work, done []apply.Done, before []manifest.Object, out *wire.AddonApplied) error {
	uids := map[manifest.ID]types.UID{}
	for _, d := range done {
		uids[d.ID] = d.UID
	}
	for _, o := range before {
		uid, err := a.uid(ctx, o)
		if err != nil {
			return cut(w.secrets, err)
		}
		uids[o.ID()] = uid
	}
	inventory := look.After(&w.Plan.Plan, uids)
	d, err := a.Store.PutInventory(ctx, w.addon.Name, inventory)
	if err != nil {
		return err
	}
	health, err := a.Look.Health(ctx, inventory, w.secrets)
	if err != nil {
		return err
	}
	out.Inventory, out.Health = string(d), healthOf(health)
	return nil
}

// uid of an object that an earlier part has applied; none if it is gone.
func (a *Activities) uid(ctx context.Context, o manifest.Object) (types.UID, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	err := a.Look.Cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), live)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("read %s: %w", o.ID(), err)
	}
	return live.GetUID(), nil
}
