package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// The pauses between the looks that follow a change of the providers file: they
// double.
const (
	firstWake = 5 * time.Second
	lastWake  = 10 * time.Minute
)

// Waker wakes the workflow of a Proxy.
type Waker interface {
	Changed(ctx context.Context, ref wire.ProxyRef) error
}

// WakeOptions are what WakeMoved works with.
type WakeOptions struct {
	// Cache has the Proxies.
	Cache     client.Reader
	Wake      Waker
	Providers *provider.Registry
	Log       *slog.Logger
	// After is the clock's; default time.After.
	After func(time.Duration) <-chan time.Time
}

// WakeMoved wakes the Proxies that a change of the providers file concerns, until
// ctx ends. It belongs to the worker, whose claims answer by the same file.
func WakeMoved(ctx context.Context, o WakeOptions) {
	if o.After == nil {
		o.After = time.After
	}
	changed := o.Providers.Changed()
	// No status tells what settings a provider had before this worker: a restart wakes
	// nobody for having others, or it would wake all that wait at every restart.
	l := look{former: o.configs(), first: true}
	for pause := firstWake; ; pause = min(2*pause, lastWake) {
		l.configs = o.configs()
		if err := o.wake(ctx, l); err != nil {
			o.Log.Warn("the Proxies of changed providers are not all woken, trying again", "in", pause, "error", err)
		} else {
			l = look{former: l.configs}
		}
		// A claim from before the change may be published after it, and a backend may be
		// out of reach for long: look again.
		select {
		case <-ctx.Done():
			return
		case <-changed:
			pause = firstWake / 2
		case <-o.After(pause):
		}
	}
}

// look is one look at the Proxies. The configs are hashes of what the file says, by
// provider: now, and as the Proxies were last woken for.
type look struct {
	configs, former map[string]string
	// first: nobody was woken since this worker started.
	first bool
}

func (o WakeOptions) configs() map[string]string {
	configs := map[string]string{}
	for _, name := range o.Providers.Names() {
		configs[name] = o.Providers.Config(name)
	}
	return configs
}

func (o WakeOptions) wake(ctx context.Context, l look) error {
	var list crawl.ProxyList
	if err := o.Cache.List(ctx, &list); err != nil {
		return fmt.Errorf("list Proxies: %w", err)
	}
	var errs []error
	for i := range list.Items {
		p := &list.Items[i]
		if !o.concerned(ctx, p, l) {
			continue
		}
		errs = append(errs, o.Wake.Changed(ctx, ref.Of(p)))
	}
	return errors.Join(errs...)
}

// concerned says whether the providers file has something new for p: its provider
// came or went, has other settings after it refused p, or lives elsewhere.
func (o WakeOptions) concerned(ctx context.Context, p *crawl.Proxy, l look) bool {
	c := p.Status.Condition(crawl.ConditionProvisioned)
	switch {
	case p.Spec.Mode != crawl.ModeManaged, c == nil:
		return false // the object itself wakes its workflow
	case c.Reason == wire.ReasonWrongCluster:
		return l.first // a former worker said so: this one may be of the right cluster
	case p.Paused(), !p.DeletionTimestamp.IsZero():
		return false // the file says nothing that it would act on, or tell
	}
	prov, err := o.Providers.Get(p.Spec.Provider)
	switch missing := err != nil; {
	case missing != (c.Reason == wire.ReasonUnavailable):
		return true
	case missing:
		return false
	case c.Reason == wire.ReasonPermanent, c.Reason == wire.ReasonQuota:
		// Its place may show other settings, which free it; or it is one that is away,
		// which does not: that is asked once.
		edited := l.configs[p.Spec.Provider] != l.former[p.Spec.Provider]
		return edited || l.first && moved(ctx, prov, p)
	}
	return moved(ctx, prov, p)
}

// moved says whether the instance of p is where prov has no place for it any more.
func moved(ctx context.Context, prov provider.Provider, p *crawl.Proxy) bool {
	current := p.Status.Current()
	places, err := prov.Places(ctx, p.Namespace, &p.Spec)
	return err == nil && current != nil && current.Provider == p.Spec.Provider && !slices.Contains(places, current.Place)
}
