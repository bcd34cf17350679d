package addon

import (
	"context"
	"fmt"

	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// present reads an add-on that is to stay, and may be worked on.
func (a *Activities) present(ctx context.Context, ref wire.AddonRef) (*addons.Addon, error) {
	o, found, err := a.get(ctx, ref)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%w: Addon %s is gone", outcome.ErrSuperseded, ref)
	case !o.DeletionTimestamp.IsZero():
		return nil, fmt.Errorf("%w: Addon %s is being deleted", outcome.ErrSuperseded, ref)
	case o.Suspended():
		return nil, fmt.Errorf("%w: Addon %s is suspended", outcome.ErrSuperseded, ref)
	}
	return o, nil
}

// leaving reads an add-on whose objects are to go.
func (a *Activities) leaving(ctx context.Context, ref wire.AddonRef) (*addons.Addon, error) {
	o, found, err := a.get(ctx, ref)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%w: Addon %s is gone", outcome.ErrSuperseded, ref)
	case o.DeletionTimestamp.IsZero() || !o.Uninstalls():
		return nil, fmt.Errorf("%w: Addon %s is not to be uninstalled", outcome.ErrSuperseded, ref)
	}
	return o, nil
}
