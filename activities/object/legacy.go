package object

import (
	"context"
	"slices"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// adopt puts the instance of an object that another operator managed into the
// ledger. Such a status has a providerID and no sequence. The name of an instance
// follows from the UID, so that it is found wherever it may live.
func (a *Activities) adopt(ctx context.Context, p *crawl.Proxy, claim *wire.Claim) {
	if !p.Foreign() || p.Spec.Mode == crawl.ModeExternal {
		return
	}
	places := []string{""} // without the provider nothing is deleted, and nothing forgotten
	if prov, err := a.Providers.Get(p.Spec.Provider); err == nil {
		if known, err := prov.Places(ctx, p.Namespace, &p.Spec); err == nil {
			places = known
		}
	}
	for _, place := range places {
		claim.Stored.Ledger = append(claim.Stored.Ledger, wire.Entry{
			Provider: p.Spec.Provider, Place: place, Name: provider.InstanceName(string(p.UID)), Incarnation: 1,
		})
	}
}

// released are the finalizers without those that Fairlead takes off.
func (a *Activities) released(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == crawl.Finalizer || f == a.LegacyFinalizer
	})
}
