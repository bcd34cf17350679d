package proxy

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/temporal/wire"
)

// attemptLimit is how long an attempt that is not waited for may run at most.
const attemptLimit = wire.CreateAttempt + wire.AttemptSlack + time.Second

// A reset puts another run in the place of one that may have a Create under way:
// the attempt goes on, and its run is not there to hear of it.
func TestReset(t *testing.T) {
	t.Run("a Create that took one attempt says nothing of the run before", func(t *testing.T) {
		o := newOutside()
		o.claim.Run = "before"
		o.instance = &wire.Instance{State: wire.StateRunning, Attempt: 1, Run: "after"}
		state := o.episode(t, nil, nil)
		if r := state.Ledger[0]; r.AttemptUntil.IsZero() || !r.AttemptUntil.Equal(r.LostUntil) {
			t.Errorf("the entry is %+v, want one with an attempt to wait for", r)
		}
	})
	t.Run("nor does one that failed", func(t *testing.T) {
		o := newOutside()
		o.claim.Run = "before"
		o.fail = func(name string) error {
			if name == wire.ActivityCreate {
				return failure(wire.FailurePermanent, true)
			}
			return nil
		}
		state := o.episode(t, nil, nil)
		if r := state.Ledger[0]; r.AttemptUntil.IsZero() {
			t.Errorf("the entry is %+v, want one with an attempt to wait for", r)
		}
	})
	t.Run("what has room to run may be running", func(t *testing.T) {
		w := aProxy().having("", func(r *Record) { r.Fresh, r.AttemptUntil = true, now.Add(24*time.Hour) }).with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published()
		w.state.lose(now)
		if got := Next(w.state, w.claim, now); got.Kind != Delete || !got.Entry.AttemptUntil.Equal(now.Add(attemptLimit)) {
			t.Errorf("step = %+v, want Delete that knows of an attempt until %s", got, now.Add(attemptLimit))
		}
	})
	t.Run("a deletion waits for what the run before may have sent", func(t *testing.T) {
		o := newOutside()
		o.claim.Run = "before"
		var waited time.Duration
		o.episode(t, nil, func(env *testsuite.TestWorkflowEnvironment) {
			env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
				if info.ActivityType.Name == wire.ActivityPublish { // the reset comes right before the Create
					o.claim.Run, o.claim.Deleting, o.claim.Inputs = "after", true, "in2"
					env.SignalWorkflow(wire.SignalChanged, nil)
				}
			})
			env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
				var in wire.InstanceInput
				if info.ActivityType.Name == wire.ActivityVanished && args.Get(&in) == nil {
					waited = in.Entry.AttemptUntil.Sub(env.Now())
				}
			})
		})
		if !o.released || waited < attemptLimit-2*time.Second || waited > attemptLimit {
			t.Errorf("released %v, after waiting for an attempt for %s, want %s", o.released, waited, attemptLimit)
		}
	})
}
