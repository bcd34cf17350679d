package proxy

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

const (
	// claimWindow bounds an activity on the object; what outlasts it starts over.
	claimWindow = 24 * time.Hour
	// againDelay keeps a failure that comes back at once from spinning.
	againDelay = 10 * time.Second
	// refusedDelay is between two tries to write a status that was refused for good.
	refusedDelay = 5 * time.Minute
	// noWorker is how long a call may wait for a worker that serves the provider.
	noWorker = 90 * time.Second
	// A wait for an instance that comes up is told what it waits for; one for an
	// instance that goes asks for that again.
	firstSettle, longestSettle = 10 * time.Second, 15 * time.Minute
	firstVanish, longestVanish = time.Minute, time.Hour
	// firstAttempts with the back-off of firstRetry are about a minute.
	firstAttempts = 6
)

var stepActivities = map[StepKind]string{
	Create: wire.ActivityCreate,
	Get:    wire.ActivityGet,
	Settle: wire.ActivitySettle,
	Delete: wire.ActivityDelete,
	Vanish: wire.ActivityVanished,
	Disown: wire.ActivityDisown,
}

// call runs a step on the provider and takes in what came of it.
func (r *run) call(ctx workflow.Context, s Step) error {
	in := wire.InstanceInput{Proxy: r.proxy, ClusterID: r.state.ClusterID, Entry: s.Entry, Quiet: s.Quiet}
	var seen wire.Instance
	if rec := r.state.find(s.Entry); rec != nil {
		rec.Sent = rec.Sent || s.Kind == Create
		in.Told, in.Patience = rec.Seen.Message, patience(s.Kind, rec.Waits)
		if r.state.mistaken(rec) {
			in.Patience = 0 // nobody asked it to go
		}
	}
	// A Create or Delete that was sent may do its work whether or not we wait for
	// it, so it is waited for; only the rests between quiet attempts can be cut.
	if s.Kind == Settle || s.Kind == Vanish || s.Quiet && s.Kind != Disown {
		wait, cancel := workflow.WithCancel(ctx)
		future := workflow.ExecuteActivity(withCallOptions(wait, s), stepActivities[s.Kind], in)
		r.race(wait, future, cancel)
		err := future.Get(wait, &seen)
		if temporal.IsCanceledError(err) {
			return r.cut(ctx, s)
		}
		return r.outcome(ctx, s, seen, err)
	}
	err := workflow.ExecuteActivity(withCallOptions(ctx, s), stepActivities[s.Kind], in).Get(ctx, &seen)
	return r.outcome(ctx, s, seen, err)
}

// patience of a wait grows with those that ended without what was waited for.
func patience(k StepKind, waits int) time.Duration {
	switch k {
	case Settle:
		return min(firstSettle<<min(waits, 10), longestSettle)
	case Vanish:
		return min(firstVanish<<min(waits, 10), longestVanish)
	}
	return 0
}

// race waits for future, or cancels it when a signal comes first.
func (r *run) race(ctx workflow.Context, future workflow.Future, cancel workflow.CancelFunc) {
	selector := workflow.NewSelector(ctx).AddFuture(future, func(workflow.Future) {})
	r.inbox.add(selector, r)
	for !future.IsReady() && !r.dirty && ctx.Err() == nil {
		selector.Select(ctx)
	}
	if !future.IsReady() {
		cancel()
	}
}

// cut is after a wait that a signal ended.
func (r *run) cut(ctx workflow.Context, s Step) error {
	if !r.dirty { // the workflow itself is being cancelled
		return ctx.Err()
	}
	if s.Kind == Create {
		r.bound(ctx, s.Entry)
	}
	return nil
}

// outcome takes in the result of a step.
func (r *run) outcome(ctx workflow.Context, s Step, seen wire.Instance, err error) error {
	if err != nil {
		return r.failed(ctx, s, err)
	}
	r.state.Trouble = nil
	rec := r.state.find(s.Entry)
	switch s.Kind {
	case Create:
		rec.Fresh = false
		rec.see(seen)
		r.attempted(ctx, s.Entry, wire.FailureDetail{Attempt: seen.Attempt, Run: seen.Run})
	case Get, Settle:
		rec.see(seen)
		r.state.Look = false
		rec.Waits++
		if seen.State != wire.StateProvisioning && seen.State != wire.StateUnknown {
			rec.Waits = 0
		}
	case Delete:
		rec.Deleting = true
	case Vanish:
		if seen.State == wire.StateGone {
			r.state.drop(s.Entry, workflow.Now(ctx))
		} else {
			if r.state.mistaken(rec) { // it was not gone: look what it is
				rec.Seen = wire.Instance{}
				return nil
			}
			rec.Deleting = false // it is still there, or came up late: delete it again
			rec.Waits++
			rec.Seen.Message = seen.Message
		}
	case Disown:
		rec.Disowned = true
	}
	return nil
}

// failed remembers why, for the plan to tell and to wait out.
func (r *run) failed(ctx workflow.Context, s Step, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.Kind == Create {
		r.attempted(ctx, s.Entry, failedAttempt(err))
	}
	if failureType(err) == wire.FailureSuperseded {
		return r.again(ctx, err)
	}
	if s.Kind == Disown { // it was to be done where it can be done
		rec := r.state.find(s.Entry)
		rec.Disowned, rec.Marked = true, true
		return nil
	}
	t := trouble(s, err)
	t.Config = r.config
	if s.Quiet && !r.dirty && r.state.Trouble != nil && *r.state.Trouble == t {
		// It came back at once with what is known already: do not spin.
		if err := workflow.Sleep(ctx, againDelay); err != nil {
			return err
		}
	}
	r.state.Trouble = &t
	return nil
}

// attempted notes that a Create has ended. When it took one attempt, and this run was
// not reset before it, no other can still be running.
func (r *run) attempted(ctx workflow.Context, e wire.Entry, by wire.FailureDetail) {
	if by.Attempt != 1 || by.Run != r.claimed {
		r.bound(ctx, e)
		return
	}
	if rec := r.state.find(e); rec != nil {
		rec.AttemptUntil = rec.LostUntil
		if !rec.LostUntil.After(workflow.Now(ctx)) {
			rec.AttemptUntil = time.Time{}
		}
	}
}

// bound limits how long an attempt that was lost on the way may still run.
func (r *run) bound(ctx workflow.Context, e wire.Entry) {
	if rec := r.state.find(e); rec != nil {
		rec.lose(workflow.Now(ctx))
		rec.AttemptUntil = rec.LostUntil
	}
}

// failedAttempt is the attempt that failed, the zero value when that is not known.
func failedAttempt(err error) wire.FailureDetail {
	var app *temporal.ApplicationError
	var detail wire.FailureDetail
	if errors.As(err, &app) && app.HasDetails() && app.Details(&detail) == nil {
		return detail
	}
	return wire.FailureDetail{}
}

func trouble(s Step, err error) Trouble {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return Trouble{Type: wire.FailureProviderUnavailable, Message: "no worker serves provider " + s.Entry.Provider + ": is it in the providers file?"}
	case errors.As(err, &timeout):
		return Trouble{Type: wire.FailureTransient, Message: string(s.Kind) + " of " + s.Entry.Name + " at " + where(s.Entry) + " did not answer in time"}
	case errors.As(err, &app):
		return Trouble{Type: app.Type(), Message: app.Message()}
	default:
		return Trouble{Type: wire.FailureTransient, Message: err.Error()}
	}
}
