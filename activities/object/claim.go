package object

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// Claim reads the truth about a Proxy. The finalizer of a Managed one goes on
// first, so that nothing is created for an object that could vanish; an object
// that is already being deleted gets none, and no Secret is read for it.
func (a *Activities) Claim(ctx context.Context, ref wire.ProxyRef) (wire.Claim, error) {
	id, err := a.Cluster.ID(ctx, a.Client)
	if err != nil {
		return wire.Claim{}, err
	}
	claim := wire.Claim{ClusterID: id, InstanceName: provider.InstanceName(ref.UID), Run: runID(ctx)}
	p, found, err := a.get(ctx, ref)
	if err != nil {
		return wire.Claim{}, err
	}
	if !found {
		claim.Gone = true
		return claim, nil
	}
	claim.Deleting = !p.DeletionTimestamp.IsZero()
	if p.Spec.Mode == crawl.ModeManaged && !claim.Deleting {
		if err := a.hold(ctx, p); err != nil {
			return wire.Claim{}, err
		}
	}
	versions := map[string]string{}
	if !claim.Deleting {
		if versions, err = secrets.Versions(ctx, a.Client, p); err != nil {
			return wire.Claim{}, err
		}
	}
	claim.Generation = p.Generation
	claim.Inputs = p.Inputs(versions)
	claim.Paused = p.Paused()
	claim.SkipCleanup = p.SkipsCleanup()
	claim.Replace = p.ReplaceAsked()
	claim.Stored = fromStatus(&p.Status)
	a.adopt(ctx, p, &claim)
	if claim.Deleting {
		claim.Unserved = a.unserved(claim.Stored.Ledger)
		return claim, nil
	}
	return claim, a.desire(ctx, p, &claim)
}

// unserved are the providers of a ledger that nobody knows.
func (a *Activities) unserved(ledger []wire.Entry) []string {
	var names []string
	for _, e := range ledger {
		if _, err := a.Providers.Get(e.Provider); err != nil && !slices.Contains(names, e.Provider) {
			names = append(names, e.Provider)
		}
	}
	return names
}

// runID is the run of the workflow that asks, empty outside an activity.
func runID(ctx context.Context) string {
	if !activity.IsActivity(ctx) {
		return ""
	}
	return activity.GetInfo(ctx).WorkflowExecution.RunID
}

// hold puts the finalizer on p.
func (a *Activities) hold(ctx context.Context, p *crawl.Proxy) error {
	if slices.Contains(p.Finalizers, crawl.Finalizer) {
		return nil
	}
	before := p.DeepCopy()
	p.Finalizers = append(p.Finalizers, crawl.Finalizer)
	// The lock keeps a deletion that came in between from getting a finalizer.
	err := a.Client.Patch(ctx, p, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), kube.FieldOwner)
	if err != nil {
		return fmt.Errorf("put the finalizer on Proxy %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}

// banLimit is how many banned reports ask for another address; nil for none.
func banLimit(p *crawl.Proxy) *wire.BanLimit {
	count, window := p.BanLimit()
	if count == 0 {
		return nil
	}
	return &wire.BanLimit{Count: count, Window: window}
}

// desire fills in what the proxy should be, or the problem that keeps it from
// being known.
func (a *Activities) desire(ctx context.Context, p *crawl.Proxy, claim *wire.Claim) error {
	claim.DrainTimeout = p.DrainTimeout()
	claim.Bans = banLimit(p)
	if p.Spec.Mode == crawl.ModeExternal {
		claim.External = true
		claim.Endpoint = &wire.Endpoint{Host: p.Spec.Endpoint.Host, Port: p.Spec.Endpoint.Port}
		return nil
	}
	claim.Provider = p.Spec.Provider
	prov, err := a.Providers.Get(p.Spec.Provider)
	if err != nil {
		claim.Problem = &wire.Problem{Reason: wire.ReasonUnavailable, Message: err.Error()}
		return nil
	}
	claim.ProviderConfig = a.Providers.Config(p.Spec.Provider)
	if claim.Places, err = prov.Places(ctx, p.Namespace, &p.Spec); err != nil {
		claim.Problem = &wire.Problem{Reason: wire.ReasonUnavailable, Message: fmt.Sprintf("provider %s: %s", p.Spec.Provider, err)}
		return nil
	}
	req, err := desired.Request(ctx, a.Client, p)
	switch {
	case errors.Is(err, secrets.ErrCredentials):
		claim.Problem = &wire.Problem{Reason: wire.ReasonCredentials, Message: err.Error()}
		return nil
	case errors.Is(err, secrets.ErrUnusable):
		claim.Problem = &wire.Problem{Reason: wire.ReasonCloudInit, Message: err.Error()}
		return nil
	case err != nil:
		return err
	}
	claim.Hash = req.Hash
	if req.Credentials != nil {
		claim.CredentialsVersion = req.Credentials.Version
	}
	return nil
}
