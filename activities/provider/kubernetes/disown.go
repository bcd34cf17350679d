package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/kube"
)

// Disown takes our labels off the pod and its Secret, and the one by which it could be
// adopted again. The annotations stay, to tell people whose it was.
func (p *Provider) Disown(ctx context.Context, id provider.ID) error {
	if _, err := p.locate(ctx, id); err != nil {
		return err
	}
	for _, o := range []client.Object{&corev1.Secret{}, &corev1.Pod{}} {
		if err := p.unlabel(ctx, id, o); err != nil {
			return classify("take the labels off", id, err)
		}
	}
	return nil
}

func (p *Provider) unlabel(ctx context.Context, id provider.ID, o client.Object) error {
	err := p.client.Get(ctx, key(id), o)
	if apierrors.IsNotFound(err) || err == nil && !p.owned(o) && !adoptable(o) {
		return nil
	}
	if err != nil {
		return err
	}
	before, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return nil
	}
	for _, label := range []string{labelManaged, labelUID, labelClusterID, labelProvider, legacyUID} {
		delete(o.GetLabels(), label)
	}
	return client.IgnoreNotFound(p.client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner))
}
