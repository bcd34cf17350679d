// Package addon is the workflow of one Addon object: it reads the truth, looks at the
// source and at the cluster, and does what it may. It sleeps without a trace when nothing
// changed. The plan is pure; the workflow only runs its steps.
package addon

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// againDelay is the pause after an activity that failed for no reason of the add-on's.
const againDelay = 10 * time.Second

// Workflow keeps one Addon until its finalizer is off. Each of its runs is one episode: it
// wakes up, does what there is to do, and continues as new.
func Workflow(ctx workflow.Context, in Input) error {
	r := newRun(ctx, in)
	if err := r.handleSync(ctx); err != nil {
		return err
	}
	if in.State != nil {
		r.tell(ctx, Step{Kind: Park})
	}
	for {
		if err := r.sleep(ctx); err != nil {
			return err
		}
		done, err := r.episode(ctx)
		if err != nil {
			return err
		}
		if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
			return err
		}
		// Nothing may yield between this drain and the return: a signal that came between
		// would be lost with the run.
		r.inbox.drain(r)
		if done {
			return nil
		}
		if !r.dirty || r.full(ctx) {
			next := Input{Addon: in.Addon, Version: Version, State: &r.state, Dirty: r.dirty, Asks: r.asks}
			return workflow.NewContinueAsNewError(ctx, Workflow, next)
		}
	}
}

// run is one run of the workflow.
type run struct {
	addon wire.AddonRef
	state State
	inbox inbox
	// dirty: something changed since the last claim. later: it did, and what is under way
	// goes on nevertheless.
	dirty, later bool
	// defined: a sync of this run has defined kinds.
	defined bool
	// superseded: so was the last thing that this run did.
	superseded bool
	// blind: the object was never read.
	blind bool
	// asks are requests to sync that came as signals.
	asks []wire.SyncInput
}

func newRun(ctx workflow.Context, in Input) *run {
	r := &run{addon: in.Addon, inbox: newInbox(ctx), dirty: in.State == nil || in.Dirty, blind: in.State == nil, asks: in.Asks}
	if in.State != nil {
		r.state = *in.State
	}
	r.state.Version = max(in.Version, 1)
	return r
}

// episode claims and acts until there is nothing left to do. It is done when the object is
// released.
func (r *run) episode(ctx workflow.Context) (done bool, err error) {
	for r.dirty && !r.full(ctx) {
		r.inbox.drain(r)
		r.dirty, r.later = false, false
		if err := r.answer(ctx); err != nil {
			return false, err
		}
		claim, err := r.claim(ctx)
		if err != nil {
			return false, err
		}
		if r.dirty { // it could not be read
			continue
		}
		r.state.merge(claim)
		r.blind = false
		if done, err := r.act(ctx, claim); done || err != nil {
			return done, err
		}
		r.dirty = r.dirty || r.later
	}
	return false, nil
}

// full says whether this run's history is as long as it should get.
func (r *run) full(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// act runs steps until the plan parks or another claim is needed.
func (r *run) act(ctx workflow.Context, claim wire.AddonClaim) (done bool, err error) {
	for !r.dirty {
		if r.full(ctx) {
			r.dirty = true // the next run goes on
			break
		}
		step := Next(r.state, claim, workflow.Now(ctx))
		r.tell(ctx, step)
		switch step.Kind {
		case Park:
			if step.Until.IsZero() {
				r.state.Failure = nil // nothing is tried again by itself
			}
			r.state.Work = Work{}
			return false, nil
		case End:
			return true, nil
		}
		if done, err := r.take(ctx, step, claim); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// take runs one step. It is done when the object is released.
func (r *run) take(ctx workflow.Context, step Step, claim wire.AddonClaim) (done bool, err error) {
	switch step.Kind {
	case Begin:
		r.begin(ctx, *step.Sync)
	case Stumble:
		r.state.Sync.Attempt++
		r.stumble(ctx, step.Message, claim)
	case Preview:
		return false, r.preview(ctx, claim)
	case Publish:
		return false, r.publish(ctx, step)
	case Apply:
		return false, r.apply(ctx, step, claim)
	case Hook:
		return false, r.hook(ctx, step, claim)
	case Tidy:
		return false, r.tidy(ctx, step, claim)
	case Remove:
		return false, r.remove(ctx, claim)
	case Release:
		err := r.release(ctx)
		return err == nil && !r.dirty, err
	}
	return false, nil
}

func (r *run) begin(ctx workflow.Context, sync wire.AddonSync) {
	if sync.ID == "" {
		sync.ID = fmt.Sprintf("%.8s-%d", workflow.GetInfo(ctx).WorkflowExecution.RunID, r.state.Stored.Sequence+1)
	}
	r.state.Sync = &sync
}

// stumble takes in that a try failed. Next parks then.
func (r *run) stumble(ctx workflow.Context, message string, claim wire.AddonClaim) {
	now := workflow.Now(ctx)
	if again := r.state.fail(message, claim.Inputs, now); again {
		return // it is told already
	}
	if r.state.Sync != nil && (r.state.Work.Preview != nil || claim.Deleting) {
		end := r.state.ended(wire.OutcomeFailed, message, now)
		r.state.Work.Ended = &end
	}
}

// failed turns the failure of an activity into what is next: another claim where the world
// has moved on, a failed try where the activity told a reason.
func (r *run) failed(ctx workflow.Context, err error, claim wire.AddonClaim) error {
	var app *temporal.ApplicationError
	var late *temporal.TimeoutError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case temporal.IsCanceledError(err): // a signal has cut it
		r.dirty = true
		return nil
	case errors.As(err, &app) && app.Type() != wire.FailureSuperseded && app.Type() != wire.FailureLost:
		r.stumble(ctx, app.Message(), claim)
		return nil
	case app == nil && errors.As(err, &late):
		// Not the text of err: it counts events, and the same failure is told once.
		r.stumble(ctx, "it was not done in time, or no worker lived to do it ("+late.TimeoutType().String()+")", claim)
		return nil
	}
	return r.again(ctx, err)
}

// again asks for another claim after a failure that says nothing about the add-on. Only
// the end of the workflow itself is an error.
func (r *run) again(ctx workflow.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	r.dirty = true
	if old := failureType(err); (old == wire.FailureSuperseded || old == wire.FailureLost) && !r.superseded {
		r.superseded = true // once may be a race, twice in a row is a quarrel
		return nil
	}
	workflow.GetLogger(ctx).Warn("activity failed, claiming again", "error", err)
	return workflow.Sleep(ctx, againDelay)
}

// failureType is the type of the application failure in err, or the empty string.
func failureType(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}
