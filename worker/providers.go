package worker

import (
	"context"
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
}

// WakeMoved wakes the Proxies that a change of the providers file concerns, until
// ctx ends. It belongs to the worker, whose claims answer by the same file.
func WakeMoved(ctx context.Context, o WakeOptions) {
	changed := o.Providers.Changed()
	configs := map[string]string{} // by provider, as the Proxies were last woken for
	for pause := firstWake; ; pause *= 2 {
		now := map[string]string{}
		for _, name := range o.Providers.Names() {
			now[name] = o.Providers.Config(name)
		}
		err := o.wake(ctx, func(name string) bool { return configs[name] != now[name] })
		if err != nil {
			o.Log.Warn("the Proxies of changed providers are not all woken, trying again", "in", pause, "error", err)
			pause = min(pause, lastWake)
		} else {
			configs = now
		}
		// A claim from before the change may be published after it: look again.
		var again <-chan time.Time
		if pause <= lastWake {
			again = time.After(pause)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
			pause = firstWake / 2
		case <-again:
		}
	}
}

func (o WakeOptions) wake(ctx context.Context, edited func(name string) bool) error {
	var list crawl.ProxyList
	if err := o.Cache.List(ctx, &list); err != nil {
		return fmt.Errorf("list Proxies: %w", err)
	}
	for i := range list.Items {
		p := &list.Items[i]
		if !o.concerned(ctx, p, edited) {
			continue
		}
		if err := o.Wake.Changed(ctx, wire.ProxyRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}); err != nil {
			return err
		}
	}
	return nil
}

// concerned says whether the providers file has something new for p: its provider
// came or went, has other settings after it refused p for good, or lives elsewhere.
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
	case c.Reason == wire.ReasonPermanent:
		return edited(p.Spec.Provider)
	}
	current := p.Status.Current()
	places, err := prov.Places(ctx, p.Namespace, &p.Spec)
	return err == nil && current != nil && current.Provider == p.Spec.Provider && !slices.Contains(places, current.Place)
}
