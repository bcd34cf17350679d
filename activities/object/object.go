// Package object holds the activities on Proxy objects: claim reads the truth,
// publish writes the status, release lets the object go. Nobody else writes to
// Proxy objects, but for the annotation that api/crawl/replace writes.
package object

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/events"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// Providers finds a provider by its name in the providers file.
type Providers interface {
	Get(name string) (provider.Provider, error)
	// Config is a hash of the provider's settings.
	Config(name string) string
}

// Activities are the activities on Proxy objects.
type Activities struct {
	// Client reads live: a cache may be behind what a workflow has written.
	Client    client.Client
	Providers Providers
	// Cluster is that of the objects.
	Cluster desired.Cluster
	// LegacyFinalizer of the operator that managed the objects before; it comes off
	// with ours.
	LegacyFinalizer string
	// Events tells people what happened; nil tells nobody.
	Events *events.Recorder
}

// get reads the object named by ref; found is false when it, or this UID, is gone.
func (a *Activities) get(ctx context.Context, ref wire.ProxyRef) (p *crawl.Proxy, found bool, err error) {
	p = &crawl.Proxy{}
	err = a.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, p)
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read Proxy %s: %w", ref, err)
	}
	return p, string(p.UID) == ref.UID, nil
}

// Release takes the finalizer off the object.
func (a *Activities) Release(ctx context.Context, in wire.ReleaseInput) error {
	ref := in.ProxyRef
	p, found, err := a.get(ctx, ref)
	if err != nil || !found {
		return err
	}
	rest := a.released(p.Finalizers)
	if len(rest) == len(p.Finalizers) {
		return nil
	}
	if p.DeletionTimestamp.IsZero() {
		return fmt.Errorf("%w: Proxy %s is not being deleted", outcome.ErrSuperseded, ref)
	}
	before := p.DeepCopy()
	p.Finalizers = rest
	err = a.Client.Patch(ctx, p, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take the finalizer off Proxy %s: %w", ref, err)
	}
	a.Events.Tell(p, farewell(in.Left))
	return nil
}
