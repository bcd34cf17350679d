// Package desired says what a Proxy stands for: the request to its provider, and the
// cluster that it is of.
package desired

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Cluster is the identity of a cluster as it was given; empty for that which the
// cluster itself has.
type Cluster string

// ID is the identity: the given one, else that of the cluster which r reads.
func (c Cluster) ID(ctx context.Context, r client.Reader) (string, error) {
	if c != "" {
		return string(c), nil
	}
	return kube.Identity(ctx, r)
}

// Request turns p into a request, with its Secrets read and its hash computed, but
// without the place, the incarnation and the cluster.
func Request(ctx context.Context, r client.Reader, p *crawl.Proxy) (provider.Request, error) {
	userData, err := secrets.UserData(ctx, r, p)
	if err != nil {
		return provider.Request{}, err
	}
	cred, err := secrets.ForProxy(ctx, r, p)
	if err != nil {
		return provider.Request{}, err
	}
	hash, err := provider.Hash(string(p.UID), &p.Spec, userData, cred)
	if err != nil {
		return provider.Request{}, err
	}
	return provider.Request{
		ID:          provider.ID{Name: provider.InstanceName(string(p.UID))},
		Owner:       provider.Owner{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)},
		Hash:        hash,
		Spec:        p.Spec,
		UserData:    userData,
		Credentials: cred,
	}, nil
}
