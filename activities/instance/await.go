package instance

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

// NotYet ends an attempt of a polling activity: the next one comes after After. It
// leaves no event in the history.
type NotYet struct {
	After time.Duration
	What  string
}

func (e *NotYet) Error() string { return "not yet: " + e.What }

const (
	// confirmGone is between the two looks that must both find nothing.
	confirmGone = 500 * time.Millisecond
	// deleteAgain is how long a deletion may take before it is asked for again.
	deleteAgain = time.Minute
)

// Settle waits until the instance is up, down or gone.
func (a *Activities) Settle(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	seen, err := a.Get(ctx, in)
	if err != nil {
		return seen, err
	}
	if seen.State == wire.StateProvisioning || seen.State == wire.StateUnknown {
		return seen, &NotYet{pause(ctx), in.Entry.Name + " is " + seen.State}
	}
	return seen, nil
}

// Vanish waits until the provider has twice not known the instance, at a time when
// no attempt to create it can be running any more. An instance that is still there
// after a while, or came up late, is returned as it is.
func (a *Activities) Vanish(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	for range 2 {
		_, err := a.Provider.Get(ctx, id(in.Entry))
		switch {
		case err == nil:
			return a.stillThere(ctx, in)
		case !errors.Is(err, provider.ErrNotFound):
			return wire.Instance{}, lasting(err)
		}
		if rest := time.Until(in.Entry.AttemptUntil); rest > 0 {
			return wire.Instance{}, &NotYet{min(rest, pause(ctx)), "an attempt to create " + in.Entry.Name + " may still be running"}
		}
		select {
		case <-ctx.Done():
			return wire.Instance{}, ctx.Err()
		case <-time.After(confirmGone):
		}
	}
	return wire.Instance{State: wire.StateGone, Attempt: attempt(ctx)}, nil
}

func (a *Activities) stillThere(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	if time.Since(activity.GetInfo(ctx).ScheduledTime) > deleteAgain {
		return wire.Instance{State: wire.StateUnknown, Attempt: attempt(ctx)}, nil
	}
	return wire.Instance{}, &NotYet{pause(ctx), in.Entry.Name + " is still there"}
}

// pause grows from a quarter of a second to a quarter of a minute.
func pause(ctx context.Context) time.Duration {
	const first, longest = 250 * time.Millisecond, 15 * time.Second
	shift := min(attempt(ctx)-1, 8)
	return min(first<<shift, longest)
}
