// Package sweep finds what no event tells of: instances that differ from what their
// objects say, instances that are too old, instances of no object, objects without
// a workflow. It wakes and asks; what is to be done about a Proxy is decided by the
// workflow of that Proxy, which looks for itself. Only orphans, which have none, are
// deleted here.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/desired"
	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=crawl.example.com,resources=providerhealth,verbs=get;list;create;patch;delete
// +kubebuilder:rbac:groups=crawl.example.com,resources=providerhealth/status,verbs=update

const (
	// listTimeout leaves time to act on a slow answer.
	listTimeout  = time.Minute
	checkTimeout = 15 * time.Second
	// maxProblem bounds the text in a result, in bytes.
	maxProblem = 500
)

// Workflows are those of the Proxies.
type Workflows interface {
	// Observed tells that the instance may differ from what the status says.
	Observed(ctx context.Context, ref wire.ProxyRef) error
	// Changed wakes the workflow, and starts it if it does not run.
	Changed(ctx context.Context, ref wire.ProxyRef) error
	// Running asks the workflow itself.
	Running(ctx context.Context, ref wire.ProxyRef) (bool, error)
	// ListRunning has the ids of all that run, and may be behind.
	ListRunning(ctx context.Context) (map[string]bool, error)
}

// Provider has the activities of the sweep of one provider.
type Provider struct {
	Name, Type string
	Provider   provider.Provider
	// Cache has the Proxies.
	Cache client.Reader
	// Live reads past the cache, and writes.
	Live      client.Client
	Workflows Workflows
	// Cluster is that of the objects.
	Cluster desired.Cluster
	Orphans Orphans
	Metrics *Metrics
	Log     *slog.Logger
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Sweep looks at the provider once and acts on what it sees. It fails when it could
// not see; what else goes wrong is a problem of its result.
func (p *Provider) Sweep(ctx context.Context, _ wire.SweepInput) (wire.Sweep, error) {
	v, unwritten, err := p.look(ctx)
	if err != nil {
		return wire.Sweep{}, err
	}
	result := wire.Sweep{
		Instances: len(v.listing.Instances),
		Proxies:   len(v.managed()),
		Partial:   len(v.listing.Incomplete) > 0,
	}
	var unwoken, unasked error
	result.Woken, unwoken = each(ctx, v.drifted(), p.Workflows.Observed)
	result.Aged, unasked = p.replaceAged(ctx, v)
	if problem := errors.Join(v.unanswered(), unwritten, unwoken, unasked); problem != nil {
		result.Problem = cut(conn.Scrub(problem.Error()), maxProblem)
		p.Log.Warn("a sweep could not see or do everything; the next one tries again", "provider", p.Name, "error", problem)
	}
	result.Suspects, result.KillBudget = p.suspects(v)
	return result, nil
}

// look takes one listing and one check, at the same time, and then reads the
// objects: an instance is never older than its object. unwritten is why the verdict
// of the check could not be stored.
func (p *Provider) look(ctx context.Context) (v view, unwritten, err error) {
	v = view{provider: p.Name, now: p.now(), reaches: func(proxy *crawl.Proxy, place string) bool {
		places, err := p.Provider.Places(ctx, proxy.Namespace, &proxy.Spec)
		return err == nil && slices.Contains(places, place)
	}}
	var checking sync.WaitGroup
	checking.Go(func() { v.targets, unwritten = p.check(ctx) })
	listing, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	v.listing, err = p.Provider.List(listing)
	checking.Wait()
	if err != nil {
		return v, unwritten, errors.Join(fmt.Errorf("list the instances of provider %s: %w", p.Name, err), unwritten)
	}
	if v.proxies, err = proxies(ctx, p.Cache); err != nil {
		return v, unwritten, errors.Join(err, unwritten)
	}
	return v, unwritten, nil
}

func (p *Provider) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// proxies reads all Proxies from a cache. They are the cache's own: whoever changes
// one copies it first.
func proxies(ctx context.Context, cache client.Reader) ([]crawl.Proxy, error) {
	var list crawl.ProxyList
	if err := cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list Proxies: %w", err)
	}
	return list.Items, nil
}
