package worker

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// Teller tells the workflow of a Proxy a verdict.
type Teller interface {
	Health(ctx context.Context, ref wire.ProxyRef, h wire.Health) error
}

// ProbeOptions are what Probe works with.
type ProbeOptions struct {
	// Cache has the Proxies and the labelled Secrets.
	Cache client.Reader
	Tell  Teller
	// DefaultURL is fetched through proxies whose health check names no target.
	DefaultURL string
	Metrics    probe.Metrics
	Log        *slog.Logger
}

// Probe probes every Proxy through itself until ctx ends, and tells what changed.
func Probe(ctx context.Context, o ProbeOptions) {
	probe.New(probe.Options{
		Targets: o.targets,
		Report: func(ctx context.Context, t probe.Transition) error {
			ref := wire.ProxyRef{Namespace: t.Namespace, Name: t.Name, UID: t.UID}
			err := o.Tell.Health(ctx, ref, wire.Health{
				Incarnation:   t.Incarnation,
				Healthy:       t.Healthy,
				Verdict:       string(t.Verdict),
				Message:       t.Message,
				LatencyMillis: t.Latency.Milliseconds(),
				ExitIP:        t.ExitIP,
				ProbedAt:      t.At,
			})
			if err != nil {
				o.Log.Warn("a verdict did not reach its workflow, telling it again with the next probe", "proxy", ref.String(), "error", err)
			}
			return err
		},
		Metrics: o.Metrics,
	}).Run(ctx)
}

// targets are the proxies that have an address to probe.
func (o ProbeOptions) targets(ctx context.Context) ([]probe.Target, error) {
	var list crawl.ProxyList
	if err := o.Cache.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list the Proxies to probe: %w", err)
	}
	var targets []probe.Target
	for i := range list.Items {
		p := &list.Items[i]
		if t, ok := probe.TargetOf(p, o.secrets(ctx, p), o.DefaultURL); ok {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

func (o ProbeOptions) secrets(ctx context.Context, p *crawl.Proxy) probe.Secrets {
	cred, err := secrets.ForProxy(ctx, o.Cache, p)
	if err != nil {
		return probe.Secrets{Err: err}
	}
	ca, err := secrets.CA(ctx, o.Cache, p)
	if err != nil {
		return probe.Secrets{Err: err}
	}
	s := probe.Secrets{CA: ca}
	if cred != nil {
		s.Credentials = url.UserPassword(cred.Username, cred.Password)
	}
	return s
}
