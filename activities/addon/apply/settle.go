package apply

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

const (
	// lookEvery is how often something is looked at that is waited for.
	lookEvery = 250 * time.Millisecond
	// servedWithin is how long the API server may take to serve a new kind, and goneWithin
	// how long what is deleted may take to be gone.
	servedWithin = time.Minute
	goneWithin   = 5 * time.Minute
	// lastLook is for those that others have left no time to be looked at.
	lastLook = time.Second
)

// settle waits until the kinds that a stage defines are served.
func (a *Applier) settle(ctx context.Context, stage []manifest.Object) error {
	defined := false
	for _, o := range stage {
		if !manifest.IsDefinition(o.GroupVersionKind().GroupKind()) {
			continue
		}
		defined = true
		a.tell("wait until %s is served", o.ID())
		if err := a.served(ctx, o); err != nil {
			return err
		}
	}
	if defined {
		meta.MaybeResetRESTMapper(a.Mapper)
	}
	return nil
}

func (a *Applier) served(ctx context.Context, o manifest.Object) error {
	resource, err := a.resource(o.ID(), o.GroupVersionKind().Version)
	if err != nil {
		return err
	}
	said := "it has no conditions yet"
	err = wait.PollUntilContextTimeout(ctx, lookEvery, servedWithin, true, func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ok, message := established(live)
		if message != "" {
			said = message
		}
		return ok, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("%s is not served after %s: %s", o.ID(), servedWithin, said)
	}
	return err
}

func established(live *unstructured.Unstructured) (ok bool, message string) {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		switch {
		case c["type"] == "Established" && c["status"] == "True":
			return true, ""
		case c["status"] == "False":
			message = fmt.Sprint(c["message"])
		}
	}
	return false, message
}

// removeForReplacement deletes the object that fresh is of, and waits until it is gone. The
// pods of a StatefulSet stay, and the next one takes them over; those of a Job go with it.
func (a *Applier) removeForReplacement(ctx context.Context, resource dynamic.ResourceInterface, fresh plan.Item) error {
	policy := metav1.DeletePropagationBackground
	if fresh.ID.GroupKind == (schema.GroupKind{Group: "apps", Kind: "StatefulSet"}) {
		policy = metav1.DeletePropagationOrphan
	}
	if err := a.remove(ctx, resource, fresh, policy); err != nil {
		return err
	}
	return a.gone(ctx, resource, fresh.ID, fresh.UID, time.Now().Add(goneWithin))
}

// remove deletes the object that fresh is of, if it is the same still.
func (a *Applier) remove(ctx context.Context, resource dynamic.ResourceInterface, fresh plan.Item, policy metav1.DeletionPropagation) error {
	err := resource.Delete(ctx, fresh.ID.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &fresh.UID, ResourceVersion: &fresh.ResourceVersion}, PropagationPolicy: &policy,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// gone waits until an object is. What keeps it is told.
func (a *Applier) gone(ctx context.Context, resource dynamic.ResourceInterface, id manifest.ID, uid types.UID, by time.Time) error {
	var blockers []string
	told := false
	err := wait.PollUntilContextTimeout(ctx, lookEvery, max(time.Until(by), lastLook), true, func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, id.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && live.GetUID() != uid {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if blockers = live.GetFinalizers(); !told && len(blockers) > 0 {
			told = true
			a.tell("%s is being deleted; finalizers %q are on it", id, blockers)
		}
		return false, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("it is not gone after %s: finalizers %q are on it, and what serves them has not taken them off", goneWithin, blockers)
	}
	return err
}
