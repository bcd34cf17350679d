// Package remove deletes an Addon object, and says on it whether its objects go too.
//
// The mark and the deletion are two writes. If this process dies between them, the mark
// stays on an object that nobody deletes: nothing happens until somebody does, and then its
// objects go. Asking again finishes the deletion; asking to keep the objects, or
// kubectl annotate addon NAME rendimiento.ai/uninstall-, takes the mark off.
package remove

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/kube"
)

// Why an add-on is not deleted.
var (
	// ErrGone: there is no such object.
	ErrGone = errors.New("the add-on does not exist")
	// ErrDeleting: it is being deleted already, with the other answer to what becomes of its
	// objects.
	ErrDeleting = errors.New("the add-on is being deleted already")
	// ErrGit: its definition is in git, from where it would come back.
	ErrGit = errors.New("the add-on is defined in git")
)

// takeOff bounds how long the mark is tried to be taken off an object that was not deleted.
const takeOff = 5 * time.Second

// patience outlasts the writes of a workflow that saw the mark: some 2 s.
func patience() wait.Backoff {
	return wait.Backoff{Steps: 9, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.1}
}

// Client reads live, and writes.
type Client interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

// Ask deletes the add-on of that name, and its objects too if uninstall; it returns the
// object as it was deleted. One that is being deleted in the same way is no error. With
// ErrDeleting and ErrGit the object is returned too.
func Ask(ctx context.Context, c Client, name string, uninstall bool) (*addons.Addon, error) {
	r := removal{client: c, name: name, uninstall: uninstall}
	err := retry.RetryOnConflict(patience(), func() error { return r.attempt(ctx) })
	if apierrors.IsNotFound(err) {
		err = ErrGone
	}
	if err == nil {
		return &r.addon, nil
	}
	if r.marked {
		err = errors.Join(err, r.unmark(context.WithoutCancel(ctx)))
	}
	err = fmt.Errorf("delete Addon %s: %w", name, err)
	if errors.Is(err, ErrDeleting) || errors.Is(err, ErrGit) {
		return &r.addon, err
	}
	return nil, err
}

type removal struct {
	client    Client
	name      string
	uninstall bool

	addon addons.Addon
	// marked: the mark on the object of this UID is ours.
	marked bool
	uid    types.UID
}

// attempt marks the object as it is now and deletes it as it is then. A conflict says that
// somebody wrote in between: its workflow does when it sees the mark.
func (r *removal) attempt(ctx context.Context) error {
	r.addon = addons.Addon{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: r.name}, &r.addon); err != nil {
		return err
	}
	if r.uid != "" && r.addon.UID != r.uid {
		return ErrGone // another one of the same name is not what was asked for
	}
	r.uid = r.addon.UID
	switch {
	case !r.addon.DeletionTimestamp.IsZero() && r.addon.Uninstalls() == r.uninstall:
		return nil
	case !r.addon.DeletionTimestamp.IsZero():
		return ErrDeleting
	case r.addon.Labels[addons.LabelGitOps] == "true":
		return ErrGit
	}
	if err := r.mark(ctx); err != nil {
		return err
	}
	// The resourceVersion is that of the object with the right mark: another writer can
	// neither change what this deletion means, nor can it come late, after the mark is off.
	version := r.addon.ResourceVersion
	return r.client.Delete(ctx, &r.addon, client.Preconditions{UID: &r.uid, ResourceVersion: &version})
}

// mark has the object say what its deletion means.
func (r *removal) mark(ctx context.Context) error {
	if r.addon.Uninstalls() == r.uninstall {
		return nil
	}
	before := r.addon.DeepCopy()
	if r.uninstall {
		if r.addon.Annotations == nil {
			r.addon.Annotations = map[string]string{}
		}
		r.addon.Annotations[addons.AnnotationUninstall] = "true"
	} else {
		delete(r.addon.Annotations, addons.AnnotationUninstall)
	}
	// Whether it was written is not known if there is no answer: then it may be ours.
	r.marked = r.marked || r.uninstall
	err := r.client.Patch(ctx, &r.addon, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		r.marked = false
	}
	return err
}

// unmark takes our mark off the object if it is not being deleted.
func (r *removal) unmark(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, takeOff)
	defer cancel()
	err := retry.RetryOnConflict(patience(), func() error {
		var a addons.Addon
		if err := r.client.Get(ctx, client.ObjectKey{Name: r.name}, &a); err != nil {
			return client.IgnoreNotFound(err)
		}
		if a.UID != r.uid || !a.DeletionTimestamp.IsZero() || !a.Uninstalls() {
			return nil
		}
		before := a.DeepCopy()
		delete(a.Annotations, addons.AnnotationUninstall)
		return r.client.Patch(ctx, &a, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take annotation %s off again, or its next deletion removes its objects: %w", addons.AnnotationUninstall, err)
	}
	return nil
}
