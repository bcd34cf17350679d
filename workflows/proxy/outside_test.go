package proxy

import (
	"context"
	"fmt"
	"sync"

	"go.temporal.io/sdk/activity"

	"example.com/fairlead/temporal/wire"
)

// outside is the world outside the workflow: one object and one provider.
type outside struct {
	mu       sync.Mutex
	claim    wire.Claim
	released bool
	left     []wire.Abandoned // when it was released
	instance *wire.Instance
	calls    []string
	// hosts that new instances get, one after the other; 127.64.0.1 without.
	hosts []string
	// bans that the api counts.
	bans int
	// fail, if set, is asked before each call of an activity.
	fail func(activity string) error
}

func newOutside() *outside {
	return &outside{claim: aProxy().claim}
}

func (o *outside) do(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, name)
	if o.fail != nil {
		return o.fail(name)
	}
	return nil
}

// registry is a worker, or the environment of a test.
type registry interface {
	RegisterActivityWithOptions(fn any, options activity.RegisterOptions)
}

func (o *outside) register(env registry) {
	add := func(name string, fn any) {
		env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	add(wire.ActivityClaim, func(_ context.Context, _ wire.ProxyRef) (wire.Claim, error) {
		err := o.do(wire.ActivityClaim)
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.claim, err
	})
	add(wire.ActivityPublish, func(_ context.Context, in wire.PublishInput) error {
		if err := o.do(wire.ActivityPublish); err != nil {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.claim.Stored = in.Status
		return nil
	})
	add(wire.ActivityRelease, func(_ context.Context, in wire.ReleaseInput) error {
		o.mu.Lock()
		o.released, o.left = true, in.Left
		o.mu.Unlock()
		return o.do(wire.ActivityRelease)
	})
	add(wire.ActivityDrained, func(context.Context, wire.DrainInput) error { return o.do(wire.ActivityDrained) })
	add(wire.ActivityBans, func(_ context.Context, in wire.BansInput) (wire.Bans, error) {
		if err := o.do(wire.ActivityBans); err != nil {
			return wire.Bans{}, err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if at := (wire.Endpoint{Host: o.claim.Stored.Host, Port: o.claim.Stored.Port}); at != in.Address {
			return wire.Bans{}, fmt.Errorf("asked about %v, the proxy is at %v", in.Address, at)
		}
		return wire.Bans{Count: o.bans}, nil
	})
	add(wire.ActivityReplace, func(_ context.Context, in wire.ReplaceInput) error {
		err := o.do(wire.ActivityReplace)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.claim.Replace, o.claim.Inputs = in.Value, in.Value
		return err
	})
	call := func(name string, effect func(in wire.InstanceInput) wire.Instance) {
		add(name, func(_ context.Context, in wire.InstanceInput) (wire.Instance, error) {
			if err := o.do(name); err != nil {
				return wire.Instance{}, err
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			return effect(in), nil
		})
	}
	look := func(wire.InstanceInput) wire.Instance {
		if o.instance == nil {
			return wire.Instance{State: wire.StateGone, Attempt: 1}
		}
		return *o.instance
	}
	call(wire.ActivityCreate, func(wire.InstanceInput) wire.Instance {
		if o.instance == nil {
			o.instance = &wire.Instance{State: wire.StateRunning, ProviderID: "id", Host: "127.64.0.1", Port: 3128, Attempt: 1}
			if len(o.hosts) > 0 {
				o.instance.Host, o.hosts = o.hosts[0], o.hosts[1:]
			}
		}
		return *o.instance
	})
	call(wire.ActivityGet, look)
	call(wire.ActivitySettle, look)
	call(wire.ActivityVanished, look)
	call(wire.ActivityDisown, look)
	call(wire.ActivityDelete, func(wire.InstanceInput) wire.Instance {
		o.instance = nil
		return wire.Instance{Attempt: 1}
	})
}
