// Package apply does what a plan says, object by object, and nothing that the plan does not say.
package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	// parallel is how many objects of a stage are written at a time.
	parallel = 8
	// attempts bounds how often an object is looked at anew because it changed before it
	// was written.
	attempts = 10
)

// Applier applies plans. Whatever it does may be repeated: what is done counts as done.
type Applier struct {
	plan.Planner

	// Progress is told what is written and waited for; nil for nobody.
	Progress func(string)
}

// Done is what became of one object.
type Done struct {
	ID  manifest.ID
	UID types.UID
	// Written is set if it was not as planned already.
	Written bool
}

// Apply creates, updates and replaces those objects of r's set that are in part, in Helm's
// order: stages one after the other, the objects of each at the same time. Each is planned
// again just before it is written. Its error is *MovedError if that gives another plan than
// the one that was reviewed. What was written until then is returned with any error.
func (a *Applier) Apply(ctx context.Context, r plan.Request, planned *plan.Plan, part []manifest.Object) ([]Done, error) {
	of := map[manifest.ID]plan.Item{}
	for _, item := range planned.Items {
		of[item.ID] = item
	}
	again := a.Rechecks(r)
	var all []Done
	for _, stage := range manifest.Stages(part) {
		done, err := a.stage(ctx, again, of, stage)
		all = append(all, done...)
		if err == nil {
			err = a.settle(ctx, stage)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// stage applies objects that need nothing of each other.
func (a *Applier) stage(ctx context.Context, again *plan.Rechecks, of map[manifest.ID]plan.Item, objects []manifest.Object) ([]Done, error) {
	var mu sync.Mutex
	var all []Done
	err := each(ctx, objects, func(o manifest.Object) error {
		item, ok := of[o.ID()]
		if !ok {
			return errNotPlanned
		}
		done, err := a.one(ctx, again, item)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, done)
		}
		return err
	})
	return all, err
}

// each does f to objects, some at a time. All are tried, so that all that is wrong is told at
// once.
func each(ctx context.Context, objects []manifest.Object, f func(manifest.Object) error) error {
	var mu sync.Mutex
	var failed failures
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, o := range objects {
		group.Go(func() error {
			if err := f(o); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed.add(o.ID(), err)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in failed
	return failed.err(ctx)
}

// one has the object of item as planned.
func (a *Applier) one(ctx context.Context, again *plan.Rechecks, item plan.Item) (Done, error) {
	if isDone(item) {
		return Done{ID: item.ID, UID: item.UID}, nil
	}
	for range attempts {
		fresh, body, err := again.Item(ctx, item)
		switch {
		case err != nil:
			return Done{}, err
		case isDone(fresh):
			return Done{ID: item.ID, UID: fresh.UID}, nil
		case fresh.Blocked != "":
			return Done{}, errors.New(fresh.Blocked)
		case !follows(item, fresh):
			return Done{}, &moved{item, fresh}
		}
		uid, err := a.write(ctx, again.Request, fresh, body)
		switch {
		case err == nil:
			a.tell("%s: %s", fresh.Action, item.ID)
			return Done{ID: item.ID, UID: uid, Written: true}, nil
		case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
			return Done{}, fmt.Errorf("%s it: %w", fresh.Action, err)
		}
	}
	return Done{}, errBusy
}

// isDone says whether nothing is left to be written.
func isDone(item plan.Item) bool {
	return item.Action == plan.Unchanged && !item.Unmarked && item.Blocked == ""
}

// follows says whether fresh is what was planned, or what is left of it: an object that is to
// be replaced may have been deleted already.
func follows(planned, fresh plan.Item) bool {
	return fresh.Hash == planned.Hash || fresh.Action == plan.Unchanged ||
		planned.Action == plan.Replace && fresh.Action == plan.Create
}

// write writes body, on top of the very object that fresh was made from.
func (a *Applier) write(ctx context.Context, r plan.Request, fresh plan.Item, body *unstructured.Unstructured) (types.UID, error) {
	resource, err := a.resource(fresh.ID, fresh.Version)
	if err != nil {
		return "", err
	}
	if fresh.Action == plan.Replace {
		if !r.ReplaceAllowed {
			return "", errReplaceNotAllowed
		}
		if err := a.removeForReplacement(ctx, resource, fresh); err != nil {
			return "", err
		}
		body = withoutIdentity(body)
	}
	if fresh.Migrates {
		version, err := a.inherit(ctx, resource, fresh)
		if err != nil {
			return "", err
		}
		body.SetResourceVersion(version)
	}
	written, err := resource.Apply(ctx, fresh.ID.Name, body, metav1.ApplyOptions{FieldManager: addons.FieldManager, Force: true})
	if err != nil {
		return "", err
	}
	return written.GetUID(), nil
}

// withoutIdentity is body for an object that is made anew.
func withoutIdentity(body *unstructured.Unstructured) *unstructured.Unstructured {
	body = body.DeepCopy()
	unstructured.RemoveNestedField(body.Object, "metadata", "uid")
	unstructured.RemoveNestedField(body.Object, "metadata", "resourceVersion")
	return body
}

func (a *Applier) resource(id manifest.ID, version string) (dynamic.ResourceInterface, error) {
	mapping, err := a.Mapper.RESTMapping(id.GroupKind, version)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find its API: %w", err)
	case mapping.Scope.Name() == meta.RESTScopeNameRoot:
		return a.Client.Resource(mapping.Resource), nil
	}
	return a.Client.Resource(mapping.Resource).Namespace(id.Namespace), nil
}

func (a *Applier) tell(format string, args ...any) {
	if a.Progress != nil {
		a.Progress(fmt.Sprintf(format, args...))
	}
}

var (
	errNotPlanned        = errors.New("the plan does not have it: plan again")
	errBusy              = errors.New("it changes all the time, and could not be written: another program fights over it, or try again later")
	errReplaceNotAllowed = errors.New("it can only be replaced, which replacePolicy does not allow")
)
