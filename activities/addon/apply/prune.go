package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

// Prune deletes what planned says, in the reverse of the order in which it would be
// installed, but custom resources first, and waits until each is gone. Each is looked at just
// before that. What it does not delete because it is not as it was is in its *MovedError.
func (a *Applier) Prune(ctx context.Context, r plan.Request, planned *plan.Plan) error {
	of := map[manifest.ID]plan.Item{}
	var objects []manifest.Object
	for _, item := range planned.Items {
		if item.Action == plan.Prune {
			of[item.ID] = item
			objects = append(objects, named(item))
		}
	}
	for _, stage := range manifest.UninstallStages(objects) {
		var failed failures
		for _, o := range stage {
			if err := a.prune(ctx, r, of[o.ID()]); err != nil {
				failed.add(o.ID(), err)
			}
		}
		if err := failed.err(ctx); err != nil {
			return err
		}
	}
	return nil
}

// named is an object that has a kind and a name, which tell its stage.
func named(item plan.Item) manifest.Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(item.ID.WithVersion(item.Version))
	o.SetNamespace(item.ID.Namespace)
	o.SetName(item.ID.Name)
	return manifest.Object{Unstructured: o}
}

func (a *Applier) prune(ctx context.Context, r plan.Request, item plan.Item) error {
	for range attempts {
		fresh, _, err := a.Recheck(ctx, r, item)
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
