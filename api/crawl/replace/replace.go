// Package replace asks for a new instance of a Proxy: it writes the annotation that
// says so, whose every new value the workflow of the Proxy answers once.
package replace

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
)

// Why nobody can be asked.
var (
	// ErrGone: there is no such object.
	ErrGone = errors.New("the proxy does not exist")
	// ErrDeleting: the object is being deleted, and its instance with it.
	ErrDeleting = errors.New("the proxy is being deleted")
	// ErrExternal: the instance is somebody else's.
	ErrExternal = errors.New("the proxy is External: Fairlead does not run it")
)

// Client reads live, and writes.
type Client interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// Ask gives the annotation a value, unless it has that already, and returns the
// object. With a uid, another object of the same name is none.
func Ask(ctx context.Context, c Client, key client.ObjectKey, uid, value string) (*crawl.Proxy, error) {
	var p crawl.Proxy
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p = crawl.Proxy{}
		if err := c.Get(ctx, key, &p); err != nil {
			return err
		}
		if err := check(&p, uid); err != nil || p.Annotations[crawl.AnnotationReplace] == value {
			return err
		}
		return Write(ctx, c, &p, value)
	})
	if apierrors.IsNotFound(err) {
		err = ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("ask for a new instance of Proxy %s: %w", key, err)
	}
	return &p, nil
}

// Write gives the annotation of p, as it was read, a value; p becomes what is stored
// then. The error is a conflict when p is another one by now.
func Write(ctx context.Context, c Client, p *crawl.Proxy, value string) error {
	before := p.DeepCopy()
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[crawl.AnnotationReplace] = value
	// The lock keeps it from reaching an object, or covering a wish, that came in
	// between.
	return c.Patch(ctx, p, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
}

func check(p *crawl.Proxy, uid string) error {
	switch {
	case uid != "" && string(p.UID) != uid:
		return ErrGone
	case !p.DeletionTimestamp.IsZero():
		return ErrDeleting
	case p.Spec.Mode == crawl.ModeExternal:
		return ErrExternal
	}
	return nil
}
