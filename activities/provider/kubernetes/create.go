package kubernetes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/kube"
)

// Create makes the pod of req, and the Secret beside it where there are
// credentials, or returns what is there.
func (p *Provider) Create(ctx context.Context, req provider.Request) (provider.Instance, error) {
	suffix, err := p.locate(ctx, req.ID)
	if err == nil {
		err = p.checkRequest(req)
	}
	if err != nil {
		return provider.Instance{}, err
	}
	pod, err := p.pod(req)
	if err != nil {
		return provider.Instance{}, err
	}
	if err := provider.Overdue(ctx); err != nil {
		return provider.Instance{}, fmt.Errorf("create pod %s/%s: %w: %w", pod.Namespace, pod.Name, err, provider.ErrTransient)
	}
	err = p.client.Create(ctx, pod, kube.FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		pod, err = p.existing(ctx, req)
	}
	if err != nil {
		return provider.Instance{}, classify("create", req.ID, err)
	}
	// The pod comes first, so that the Secret can belong to it and vanish with it: the
	// other way round a call that is cut short would leave the Secret behind.
	if err := p.ensureUsers(ctx, req, pod); err != nil {
		return provider.Instance{}, classify("create the Secret of", req.ID, err)
	}
	return observe(pod, suffix), nil
}

func (p *Provider) checkRequest(req provider.Request) error {
	if req.Owner.ClusterID != p.clusterID {
		return fmt.Errorf("instance %s/%s is for cluster %q, but this provider serves cluster %q: %w",
			req.Place, req.Name, req.Owner.ClusterID, p.clusterID, provider.ErrPermanent)
	}
	return nil
}

// existing is the pod that has the name already, if it is the instance of req.
func (p *Provider) existing(ctx context.Context, req provider.Request) (*corev1.Pod, error) {
	var pod corev1.Pod
	if err := p.client.Get(ctx, key(req.ID), &pod); err != nil {
		if apierrors.IsNotFound(err) { // it went a moment ago
			return nil, fmt.Errorf("the pod of that name is just going: %w", provider.ErrTransient)
		}
		return nil, err
	}
	if adoptable(&pod) && pod.Labels[legacyUID] == req.Owner.UID {
		return &pod, p.adopt(ctx, req, &pod)
	}
	if !p.owned(&pod) || pod.Labels[labelUID] != req.Owner.UID {
		return nil, fmt.Errorf("a pod %s/%s is there already which is not of Proxy %s/%s (labels %v): rename or remove it: %w",
			pod.Namespace, pod.Name, req.Owner.Namespace, req.Owner.Name, pod.Labels, provider.ErrPermanent)
	}
	return &pod, nil
}

// ensureUsers makes the Secret that the pod mounts, if it mounts one.
func (p *Provider) ensureUsers(ctx context.Context, req provider.Request, pod *corev1.Pod) error {
	if req.Credentials == nil || !pod.DeletionTimestamp.IsZero() || !mountsUsers(pod) {
		return nil
	}
	s, err := p.usersSecret(req, pod)
	if err != nil {
		return err
	}
	if err = p.client.Create(ctx, s, kube.FieldOwner); !apierrors.IsAlreadyExists(err) {
		return err
	}
	if kept, err := p.clearUsers(ctx, req, pod); kept || err != nil {
		return err
	}
	return p.client.Create(ctx, s, kube.FieldOwner)
}

// clearUsers makes room for the Secret of pod, unless the one that is there is its
// own. The garbage collector removes that of a former pod too, at any moment.
func (p *Provider) clearUsers(ctx context.Context, req provider.Request, pod *corev1.Pod) (kept bool, err error) {
	var there corev1.Secret
	err = p.client.Get(ctx, key(req.ID), &there)
	switch {
	case err != nil:
		return false, client.IgnoreNotFound(err)
	case !p.owned(&there) || there.Labels[labelUID] != req.Owner.UID:
		return false, fmt.Errorf("a Secret %s/%s is there already which is not of this Proxy: rename or remove it: %w",
			there.Namespace, there.Name, provider.ErrPermanent)
	case len(there.OwnerReferences) == 1 && there.OwnerReferences[0].UID == pod.UID:
		return true, nil
	}
	// It may hold former credentials.
	return false, client.IgnoreNotFound(p.client.Delete(ctx, &there, exactly(there.UID)))
}

func mountsUsers(pod *corev1.Pod) bool {
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && v.Secret.SecretName == pod.Name {
			return true
		}
	}
	return false
}
