// Package proxy is the workflow of one Proxy object: it reads the truth, plans the
// next step and runs it, and sleeps without a trace when nothing changed. The plan
// is pure; the workflow only runs its steps.
package proxy

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// Workflow keeps one Proxy until its finalizer is off. Each of its runs is one
// episode: it wakes up, does what there is to do, and continues as new.
func Workflow(ctx workflow.Context, in Input) error {
	r := newRun(ctx, in)
	if err := r.handleReplace(ctx); err != nil {
		return err
	}
	if in.State != nil { // what this run waits for is told before anything wakes it
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
		// Nothing may yield between this drain and the return: a signal that came
		// between would be lost with the run.
		r.inbox.drain(r)
		if done { // whatever woke it last, there is nothing left to keep
			return nil
		}
		if !r.dirty || r.full(ctx) {
			return workflow.NewContinueAsNewError(ctx, Workflow, Input{Proxy: in.Proxy, Version: Version, State: &r.state, Dirty: r.dirty})
		}
	}
}

// run is one run of the workflow.
type run struct {
	proxy wire.ProxyRef
	state State
	inbox inbox
	// dirty: something changed since the last claim.
	dirty bool
	// config of the provider, as last claimed.
	config string
	// claimed is the run, of this one and of those that were reset to become it, that
	// the last claim belongs to.
	claimed string
	// superseded: so was the last thing that this run did.
	superseded bool
}

func newRun(ctx workflow.Context, in Input) *run {
	r := &run{proxy: in.Proxy, inbox: newInbox(ctx), dirty: in.State == nil || in.Dirty}
	if in.State != nil {
		r.state = *in.State
	}
	r.state.Version = max(in.Version, 1)
	return r
}

// sleep waits for a signal that says something new. Those that do not make the history
// longer, too.
func (r *run) sleep(ctx workflow.Context) error {
	for !r.dirty && (r.state.Version < 4 || !r.full(ctx)) {
		r.inbox.wait(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// episode claims and acts until there is nothing left to do. It is done when the
// object is released.
func (r *run) episode(ctx workflow.Context) (done bool, err error) {
	for r.dirty && !r.full(ctx) {
		r.inbox.drain(r)
		r.dirty = false
		claim, err := r.claim(ctx)
		if err != nil {
			return false, err
		}
		r.config = claim.ProviderConfig
		if r.claimed != "" && claim.Run != r.claimed { // reset: what was under way goes on, and nobody waits for it
			r.state.lose(workflow.Now(ctx))
		}
		r.claimed = claim.Run
		r.state.merge(claim, workflow.Now(ctx))
		if done, err := r.act(ctx, claim); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// full says whether this run's history is as long as it should get.
func (r *run) full(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// act runs steps until the plan parks or a signal asks for another claim.
func (r *run) act(ctx workflow.Context, claim wire.Claim) (done bool, err error) {
	for !r.dirty {
		if r.full(ctx) {
			r.dirty = true // the next run goes on
			break
		}
		step := Next(r.state, claim, workflow.Now(ctx))
		r.tell(ctx, step)
		switch step.Kind {
		case Park:
			r.state.Drain = nil
			return false, nil
		case End:
			return true, nil
		}
		if done, err := r.take(ctx, step, claim); done || err != nil {
			return done, err
		}
		r.inbox.drain(r)
	}
	return false, nil
}

// take runs one step. It is done when the object is released.
func (r *run) take(ctx workflow.Context, step Step, claim wire.Claim) (done bool, err error) {
	switch step.Kind {
	case Enter:
		r.state.enter(step.Entry, claim)
		return false, nil
	case Publish:
		return false, r.publish(ctx, step)
	case Drain:
		return false, r.drain(ctx, step)
	case Rest:
		return false, r.rest(ctx, step.Until, "until another instance may be made")
	case Count:
		return false, r.count(ctx)
	case Condemn:
		return false, r.condemn(ctx, step)
	case Release:
		err := r.release(ctx)
		return err == nil && !r.dirty, err
	default:
		return false, r.call(ctx, step)
	}
}

func (r *run) claim(ctx workflow.Context) (wire.Claim, error) {
	var claim wire.Claim
	err := workflow.ExecuteActivity(withObjectOptions(ctx, "read "+r.proxy.String()), wire.ActivityClaim, r.proxy).Get(ctx, &claim)
	return claim, r.again(ctx, err)
}

func (r *run) publish(ctx workflow.Context, s Step) error {
	in := wire.PublishInput{Proxy: r.proxy, Status: s.Status}
	r.state.Sent = &s.Status
	wait, cancel := workflow.WithCancel(ctx)
	future := workflow.ExecuteActivity(withObjectOptions(wait, headline(s.Status)), wire.ActivityPublish, in)
	r.race(wait, future, cancel) // a status that cannot be written must not keep a deletion waiting
	err := future.Get(wait, nil)
	switch {
	case temporal.IsCanceledError(err):
		return ctx.Err()
	case failureType(err) == wire.FailurePermanent:
		return r.refused(ctx, s.Status, err)
	case err != nil:
		return r.again(ctx, err)
	}
	r.state.Stored, r.state.Refused, r.state.Sent = s.Status, nil, nil
	r.superseded = false
	return r.index(ctx, s.Status)
}

// refused is after a status that the API server will never take. Only a deletion
// goes on without it: nothing is created that is not in the ledger.
func (r *run) refused(ctx workflow.Context, status wire.ProxyStatus, err error) error {
	workflow.GetLogger(ctx).Error("the API server refuses the status", "error", err)
	again := r.state.Refused != nil && equal(*r.state.Refused, status)
	r.state.Refused = &status
	if !again && status.Phase == wire.PhaseDeleting {
		return nil
	}
	err = r.rest(ctx, workflow.Now(ctx).Add(refusedDelay), "until the API server may take the status")
	r.dirty = true
	return err
}

func (r *run) release(ctx workflow.Context) error {
	in := wire.ReleaseInput{ProxyRef: r.proxy}
	for _, left := range r.state.Ledger {
		in.Left = append(in.Left, wire.Abandoned{Entry: left.Entry, Marked: left.Marked || !left.Disowned})
	}
	err := workflow.ExecuteActivity(withObjectOptions(ctx, "let "+r.proxy.String()+" go"), wire.ActivityRelease, in).Get(ctx, nil)
	return r.again(ctx, err)
}

// again turns the failure of an activity on the object into another claim: it
// retried for as long as it made sense, so the world has moved on. Only the end of
// the workflow itself is an error.
func (r *run) again(ctx workflow.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	r.dirty = true
	if failureType(err) == wire.FailureSuperseded && !r.superseded {
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
