package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
)

// Delete asks for the end of the pod and of its Secret. Objects of the same name
// that are not ours stay.
func (p *Provider) Delete(ctx context.Context, id provider.ID) error {
	if _, err := p.locate(ctx, id); err != nil {
		return err
	}
	// The Secret belongs to the pod, but a cluster without a garbage collector, or one
	// that is slow, must not keep it for the next pod of this name.
	for _, o := range []client.Object{&corev1.Pod{}, &corev1.Secret{}} {
		if err := p.deleteOwned(ctx, id, o); err != nil {
			return classify("delete", id, err)
		}
	}
	return nil
}

func (p *Provider) deleteOwned(ctx context.Context, id provider.ID, o client.Object) error {
	err := p.client.Get(ctx, key(id), o)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case !p.owned(o) && !adoptable(o):
		return nil
	}
	// Also what is being deleted: an API server that was cut off may have marked a pod
	// that has no node to end it.
	return client.IgnoreNotFound(p.client.Delete(ctx, o, exactly(o.GetUID())))
}
