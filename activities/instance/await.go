package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

const (
	// betweenLooks is between the two looks that must both find nothing.
	betweenLooks = 500 * time.Millisecond
	// tellAfter is how long looks may fail before that is told.
	tellAfter = time.Minute
)

// Settle waits until the instance is up, down or gone.
func (a *Activities) Settle(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	return poll(ctx, in, func() (wire.Instance, error) {
		seen, err := a.Get(ctx, in)
		if err != nil || seen.State != wire.StateProvisioning && seen.State != wire.StateUnknown {
			return seen, err
		}
		if in.Patience > 0 && seen.Message != in.Told && waited(ctx) > in.Patience {
			return seen, nil // to be told
		}
		return seen, &outcome.NotYet{After: pause(ctx), What: in.Entry.Name + " is " + seen.State}
	})
}

// Vanish waits until the provider has twice not known the instance, at a time when
// no attempt to create it can be running any more. An instance that is still there
// after a while, or came up late, is returned as it is.
func (a *Activities) Vanish(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	return poll(ctx, in, func() (wire.Instance, error) { return a.confirmGone(ctx, in) })
}

func (a *Activities) confirmGone(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) {
	for range 2 {
		inst, err := a.find(ctx, in)
		switch {
		case err == nil:
			return stillThere(ctx, in, inst)
		case !errors.Is(err, provider.ErrNotFound):
			return wire.Instance{}, lasting(fmt.Errorf("look whether instance %s is gone: %w", in.Entry.Name, err))
		}
		if rest := time.Until(in.Entry.AttemptUntil); rest > 0 {
			return unknown(ctx, ""), &outcome.NotYet{After: min(rest, pause(ctx)), What: "an attempt to create " + in.Entry.Name + " may still be running"}
		}
		select {
		case <-ctx.Done():
			return wire.Instance{}, ctx.Err()
		case <-time.After(betweenLooks):
		}
	}
	return wire.Instance{State: wire.StateGone, Attempt: attempt(ctx)}, nil
}

func stillThere(ctx context.Context, in wire.InstanceInput, inst provider.Instance) (wire.Instance, error) {
	what := cmp.Or(inst.Message, "it is "+string(inst.State))
	if waited(ctx) > in.Patience {
		return unknown(ctx, what), nil
	}
	return unknown(ctx, what), &outcome.NotYet{After: pause(ctx), What: in.Entry.Name + " is still there: " + what}
}

func unknown(ctx context.Context, message string) wire.Instance {
	return wire.Instance{State: wire.StateUnknown, Message: message, Attempt: attempt(ctx)}
}

// waited is how long this step has been under way.
func waited(ctx context.Context) time.Duration {
	return time.Since(activity.GetInfo(ctx).ScheduledTime)
}

// poll looks once for a polling step. Looks that have failed for a while end the
// step, so that the reason can be told; a quiet step, whose reason is told, ends with
// the first look that does not fail.
func poll(ctx context.Context, in wire.InstanceInput, look func() (wire.Instance, error)) (wire.Instance, error) {
	seen, err := look()
	var notYet *outcome.NotYet
	switch {
	case err == nil:
		return seen, nil
	case errors.As(err, &notYet) && in.Quiet:
		return seen, nil
	case errors.As(err, &notYet):
		if !failingSince(ctx).IsZero() {
			activity.RecordHeartbeat(ctx, time.Time{})
		}
		return seen, err
	case in.Quiet || ctx.Err() != nil:
		return seen, err
	}
	since := failingSince(ctx)
	if since.IsZero() {
		activity.RecordHeartbeat(ctx, time.Now())
	} else if time.Since(since) > tellAfter {
		return seen, &outcome.Failing{Since: since, Err: err}
	}
	return seen, err
}

// failingSince is when the looks of this step began to fail. The attempts of an
// activity hand it on as the details of their heartbeats.
func failingSince(ctx context.Context) time.Time {
	var since time.Time
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &since) != nil {
		return time.Time{}
	}
	return since
}

// pause grows from a quarter of a second to a quarter of a minute.
func pause(ctx context.Context) time.Duration {
	const first, longest = 250 * time.Millisecond, 15 * time.Second
	shift := min(attempt(ctx)-1, 8)
	return min(first<<shift, longest)
}
