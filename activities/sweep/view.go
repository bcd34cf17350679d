package sweep

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// view is one look at a provider, and at all objects. What follows from it is
// decided without looking again.
type view struct {
	provider string
	listing  provider.Listing
	targets  []provider.TargetStatus
	proxies  []crawl.Proxy
	now      time.Time
	// reaches says whether a place of p is one that the provider has by its settings
	// of today. A listing says nothing about a former one.
	reaches func(p *crawl.Proxy, place string) bool
}

// managed are the Proxies that should have an instance of the provider.
func (v view) managed() []*crawl.Proxy {
	var own []*crawl.Proxy
	for i := range v.proxies {
		if p := &v.proxies[i]; p.Spec.Mode == crawl.ModeManaged && p.Spec.Provider == v.provider {
			own = append(own, p)
		}
	}
	return own
}

// steady says whether p is at rest with one instance that clients use, for one of
// reasons. Anything else is being looked after already, or must be left alone.
func steady(p *crawl.Proxy, reasons ...string) bool {
	up := p.Status.Condition(crawl.ConditionProvisioned)
	switch p.Status.Phase {
	case crawl.PhaseReady, crawl.PhaseUnhealthy:
		return p.DeletionTimestamp.IsZero() && !p.Paused() && up != nil && slices.Contains(reasons, up.Reason)
	}
	return false
}

// current is the ledger entry of p's instance on the provider, or nil.
func (v view) current(p *crawl.Proxy) *crawl.InstanceRecord {
	if c := p.Status.Current(); c != nil && c.Provider == v.provider {
		return c
	}
	return nil
}

// instances finds an instance by where it is.
func (v view) instances() map[provider.ID]*provider.Instance {
	found := make(map[provider.ID]*provider.Instance, len(v.listing.Instances))
	for i := range v.listing.Instances {
		found[v.listing.Instances[i].ID] = &v.listing.Instances[i]
	}
	return found
}

// unanswered is an error about the targets that the listing lacks.
func (v view) unanswered() error {
	var all []error
	for _, target := range slices.Sorted(maps.Keys(v.listing.Incomplete)) {
		all = append(all, fmt.Errorf("target %s was not listed: %s", target, v.listing.Incomplete[target]))
	}
	return errors.Join(all...)
}

// hidden says whether a place may hold instances that the listing lacks.
//
// A listing names the targets that did not answer. For some providers targets are
// places, such as hosts; for others a target is all there is. Only when each of the
// silent ones is known to be another place was this one listed completely.
func (v view) hidden() func(place string) bool {
	if len(v.listing.Incomplete) == 0 {
		return func(string) bool { return false }
	}
	places, targets := v.places(), map[string]bool{}
	for _, t := range v.targets {
		targets[t.Name] = true
	}
	return func(place string) bool {
		for silent := range v.listing.Incomplete {
			elsewhere := places[silent] || targets[place] && targets[silent]
			if silent == place || !elsewhere {
				return true
			}
		}
		return false
	}
}

// places are those that something is, or should be.
func (v view) places() map[string]bool {
	places := map[string]bool{}
	for i := range v.listing.Instances {
		places[v.listing.Instances[i].Place] = true
	}
	for _, p := range v.managed() {
		for _, e := range p.Status.Instances {
			if e.Provider == v.provider {
				places[e.Place] = true
			}
		}
	}
	return places
}
