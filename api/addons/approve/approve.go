// Package approve writes on an Addon that the plan which waits may be applied, and by whose
// word; and reads whose word it was. It does not know how plans are made.
package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/kube"
)

// Why a plan cannot be approved.
var (
	// ErrGone: there is no such object.
	ErrGone = errors.New("the add-on does not exist")
	// ErrDeleting: the object is being deleted.
	ErrDeleting = errors.New("the add-on is being deleted")
	// ErrSuspended: nothing is applied for now.
	ErrSuspended = errors.New("the add-on is suspended")
	// ErrNothing: no plan waits.
	ErrNothing = errors.New("no plan waits for approval")
	// ErrOther: the plan that waits is another one.
	ErrOther = errors.New("another plan waits")
)

// Client reads live, and writes.
type Client interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// Request is who approves what.
type Request struct {
	// Plan is the hash of the plan; empty for the one that the status shows.
	Plan string
	// Who approves it, for the history.
	Who string
	// Sign is a keyed hash, and set if Who is proved. What it signs is verified.
	Sign func([]byte) string
}

// Ask writes the approval on the add-on, unless it is there, and returns the object. With
// a uid, another object of the same name is none.
func Ask(ctx context.Context, c Client, name, uid string, r Request) (*addons.Addon, error) {
	var a addons.Addon
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		a = addons.Addon{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, &a); err != nil {
			return err
		}
		plan, err := choose(&a, uid, r.Plan)
		if err != nil || approved(&a, plan, r) {
			return err
		}
		return write(ctx, c, &a, plan, r)
	})
	if apierrors.IsNotFound(err) {
		err = ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("ask for a sync of add-on %s: %w", name, err)
	}
	return &a, nil
}

// choose returns the hash of the plan to approve.
func choose(a *addons.Addon, uid, asked string) (string, error) {
	waiting := ""
	if a.Status.Plan != nil {
		waiting = a.Status.Plan.Hash
	}
	switch {
	case uid != "" && string(a.UID) != uid:
		return "", ErrGone
	case !a.DeletionTimestamp.IsZero():
		return "", ErrDeleting
	case a.Suspended():
		return "", fmt.Errorf("%w: set spec.suspend to false, and take off the annotation %s", ErrSuspended, addons.AnnotationPaused)
	case asked != "" && asked == a.Spec.Approve && waiting == "":
		return asked, nil // a repeated call, after the plan was applied
	case waiting == "":
		return "", fmt.Errorf("%w: it is %s", ErrNothing, cmp.Or(a.Status.Phase, addons.PhasePending))
	case asked != "" && asked != waiting:
		return "", fmt.Errorf("%w: it is %s, not %s: look at it with `fairlead addon diff %s`, and approve that", ErrOther, waiting, asked, a.Name)
	}
	return waiting, nil
}

// approved says whether there is nothing to write: whoever approves first is kept, and a
// word that is verified goes over one that is not.
func approved(a *addons.Addon, plan string, r Request) bool {
	if a.Spec.Approve != plan {
		return false
	}
	if r.Sign == nil {
		return true
	}
	said, _ := readMark(a)
	return said.Plan == plan && said.verified(a, r.Sign)
}

func write(ctx context.Context, c Client, a *addons.Addon, plan string, r Request) error {
	mark, err := newMark(a, plan, r)
	if err != nil {
		return err
	}
	before := a.DeepCopy()
	a.Spec.Approve = plan
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	a.Annotations[addons.AnnotationApprovedBy] = mark
	// The lock keeps it from approving what came in between.
	return c.Patch(ctx, a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
}
