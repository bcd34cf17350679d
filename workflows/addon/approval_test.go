package addon

import (
	"testing"

	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/temporal/wire"
)

func TestARequestIsForThePlanThatWasShownWhenItCame(t *testing.T) {
	moving := func(t *testing.T, asks func(env *testsuite.TestWorkflowEnvironment)) *outside {
		t.Helper()
		o := newOutside()
		o.claim.ManualSync = true
		state := o.episode(t, nil, nil)
		o.content = "v2"
		var env *testsuite.TestWorkflowEnvironment
		o.fail = func(name string) error {
			if name == published {
				o.fail = nil
				asks(env)
			}
			return nil
		}
		o.episode(t, state, func(e *testsuite.TestWorkflowEnvironment) { env = e; wake(e) })
		o.phase(t, wire.AddonOutOfSync)
		if o.live != "" {
			t.Errorf("%s was applied, which nobody saw", o.live)
		}
		return o
	}
	t.Run("a signal while another plan is published", func(t *testing.T) {
		o := moving(t, func(env *testsuite.TestWorkflowEnvironment) {
			env.SignalWorkflow(wire.SignalSync, wire.SyncInput{Who: "ann"})
		})
		if want := "plan-v1-over--0"; o.claim.Approve != want {
			t.Errorf("approved is %q, want %q", o.claim.Approve, want)
		}
	})
	t.Run("a signal while nothing was shown", func(t *testing.T) {
		o := newOutside()
		o.claim.ManualSync = true
		var env *testsuite.TestWorkflowEnvironment
		o.fail = func(name string) error {
			if name == previewed {
				o.fail = nil
				env.SignalWorkflow(wire.SignalSync, wire.SyncInput{Who: "ann"})
			}
			return nil
		}
		o.episode(t, nil, func(e *testsuite.TestWorkflowEnvironment) { env = e })
		o.phase(t, wire.AddonOutOfSync)
		if o.claim.Approve != "" || o.live != "" {
			t.Errorf("approved %q, applied %q", o.claim.Approve, o.live)
		}
	})
}

// approved is a world whose first sync was just approved.
func approved(t *testing.T) (*outside, *State) {
	t.Helper()
	o := newOutside()
	o.claim.ManualSync = true
	state := o.episode(t, nil, nil)
	o.approve(o.claim.Stored.PlanHash, "ann")
	return o, state
}

func TestTheInventoryOfAnApprovedSyncIsPublishedBeforeAnythingIsWritten(t *testing.T) {
	o, state := approved(t)
	o.apply = func(wire.AddonApplyInput) *wire.AddonApplied {
		if got, want := o.claim.Stored.Sets, (wire.AddonSets{Plan: "stored-plan-v1-over--0", Render: "render-v1", Inventory: "before-v1"}); got != want {
			t.Errorf("the object has %+v while objects are written, want %+v", got, want)
		}
		return nil
	}
	o.episode(t, state, wake)
	o.phase(t, wire.AddonSynced)
}

func TestAnApprovedPlanThatIsLostIsMadeAnew(t *testing.T) {
	o, state := approved(t)
	o.fail = func(name string) error {
		if name == applied+wire.PartAll && o.lost == "" {
			o.lost = o.claim.Stored.Sets.Plan // while it is applied
		}
		return nil
	}
	o.episode(t, state, wake)
	o.phase(t, wire.AddonSynced)
	if last := o.history[len(o.history)-1]; last.Approver.Name != "ann" {
		t.Errorf("the history says %+v", last)
	}
}
