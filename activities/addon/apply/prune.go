package apply

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

// Prune deletes what planned says, in the reverse of the order in which it would be
// installed, but custom resources first, and waits for each stage until it is gone. Each object
// is looked at just before that. What it does not delete because it is not as it was is in its *MovedError.
func (a *Applier) Prune(ctx context.Context, r plan.Request, planned *plan.Plan) error {
	of := map[manifest.ID]plan.Item{}
	var objects []manifest.Object
	for _, item := range planned.Items {
		if item.Action == plan.Prune {
			of[item.ID] = item
			objects = append(objects, named(item))
		}
	}
	again := a.Rechecks(r)
	for _, stage := range manifest.UninstallStages(objects) {
		if err := a.pruneStage(ctx, again, of, stage); err != nil {
			return err
		}
	}
	return nil
}

// pruneStage deletes all objects of a stage before it waits for any: one may hold another.
func (a *Applier) pruneStage(ctx context.Context, again *plan.Rechecks, of map[manifest.ID]plan.Item, stage []manifest.Object) error {
	err := each(ctx, stage, func(o manifest.Object) error { return a.prune(ctx, again, of[o.ID()]) })
	if err != nil {
		return err
	}
	by := time.Now().Add(goneWithin)
	return each(ctx, stage, func(o manifest.Object) error {
		item := of[o.ID()]
		resource, err := a.resource(item.ID, item.Version)
		if err != nil {
			return err
		}
		return a.gone(ctx, resource, item.ID, item.UID, by)
	})
}

// named is an object that has a kind and a name, which tell its stage.
func named(item plan.Item) manifest.Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(item.ID.WithVersion(item.Version))
	o.SetNamespace(item.ID.Namespace)
	o.SetName(item.ID.Name)
	return manifest.Object{Unstructured: o}
}

func (a *Applier) prune(ctx context.Context, again *plan.Rechecks, item plan.Item) error {
	for range attempts {
		fresh, _, err := again.Item(ctx, item)
		switch {
		case err != nil:
			return err
		case fresh.Action == plan.Unchanged: // it is gone
			return nil
		case fresh.Hash != item.Hash:
			return &moved{item, fresh}
		}
		resource, err := a.resource(fresh.ID, fresh.Version)
		if err != nil {
			return err
		}
		a.tell("delete %s", item.ID)
		err = a.remove(ctx, resource, fresh, metav1.DeletePropagationBackground)
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return errBusy
}
