package addon

import (
	"context"
	"time"

	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/mask"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// AwaitHealth looks once how the applied objects are, and returns if that is another than was
// told.
func (a *Activities) AwaitHealth(ctx context.Context, in wire.AddonSettleInput) (wire.AddonHealth, error) {
	o, err := a.present(ctx, in.Addon)
	if err != nil {
		return wire.AddonHealth{}, err
	}
	inventory, err := a.Look.Inventory(ctx, o.Name, setstore.Digest(in.Inventory))
	if err != nil {
		return wire.AddonHealth{}, judged(err)
	}
	now, err := a.Look.Health(ctx, inventory, mask.Mask{})
	if err != nil {
		return wire.AddonHealth{}, a.masked(ctx, o, err)
	}
	if string(now.Status) == in.Told.Status {
		return wire.AddonHealth{}, &outcome.NotYet{After: pause(attempt(ctx)), What: o.Name + " is " + in.Told.Status + " still"}
	}
	secrets, err := a.secretsOf(ctx, o)
	now.Message = secrets.Leaf(now.Message)
	return healthOf(now), err
}

// pause grows from a second to a minute.
func pause(attempt int) time.Duration {
	return min(time.Second<<min(attempt-1, 6), time.Minute)
}

// secretsOf hides the secrets of what was applied of an add-on.
func (a *Activities) secretsOf(ctx context.Context, o *addons.Addon) (mask.Mask, error) {
	values, err := a.Look.Sources.Secrets(ctx, o)
	if err != nil || o.Status.Sets == nil || o.Status.Sets.Render == "" {
		return look.Mask(manifest.Set{}, values), err
	}
	applied, err := a.Store.Render(ctx, setstore.Digest(o.Status.Sets.Render))
	if err != nil && outage(err) {
		return mask.Mask{}, err
	}
	return look.Mask(applied.Set, values), nil
}

// masked is err without the secrets of an add-on. If those cannot be had, it is that error.
func (a *Activities) masked(ctx context.Context, o *addons.Addon, err error) error {
	secrets, noSecrets := a.secretsOf(ctx, o)
	if noSecrets != nil {
		return noSecrets
	}
	return cut(secrets, err)
}
