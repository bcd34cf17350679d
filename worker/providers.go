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
	configs := map[string]string{} // by provider, as the Proxies were last woken for
	for pause := firstWake; ; pause = min(2*pause, lastWake) {
		now := map[string]string{}
		for _, name := range o.Providers.Names() {
			now[name] = o.Providers.Config(name)
		}
		if err := o.wake(ctx, func(name string) bool { return configs[name] != now[name] }); err != nil {
			o.Log.Warn("the Proxies of changed providers are not all woken, trying again", "in", pause, "error", err)
		} else {
			configs = now
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

func (o WakeOptions) wake(ctx context.Context, edited func(name string) bool) error {
	var list crawl.ProxyList
	if err := o.Cache.List(ctx, &list); err != nil {
		return fmt.Errorf("list Proxies: %w", err)
	}
	var errs []error
	for i := range list.Items {
		p := &list.Items[i]
		if !o.concerned(ctx, p, edited) {
			continue
		}
		errs = append(errs, o.Wake.Changed(ctx, wire.ProxyRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}))
	}
	return errors.Join(errs...)
}

// concerned says whether the providers file has something new for p: its provider
// came or went, has other settings after it refused p, or lives elsewhere.
func (o WakeOptions) concerned(ctx context.Context, p *crawl.Proxy, edited func(name string) bool) bool {
	c := p.Status.Condition(crawl.ConditionProvisioned)
	if p.Spec.Mode != crawl.ModeManaged || c == nil {
		return false // the object itself wakes its workflow
	}
	prov, err := o.Providers.Get(p.Spec.Provider)
	switch missing := err != nil; {
	case missing != (c.Reason == wire.ReasonUnavailable):
		return true
	case missing:
		return false
	case c.Reason == wire.ReasonPermanent, c.Reason == wire.ReasonQuota:
		return edited(p.Spec.Provider)
	}
	current := p.Status.Current()
	places, err := prov.Places(ctx, p.Namespace, &p.Spec)
	return err == nil && current != nil && current.Provider == p.Spec.Provider && !slices.Contains(places, current.Place)
}
