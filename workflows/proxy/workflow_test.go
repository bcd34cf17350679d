package proxy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

var ref = wire.ProxyRef{Namespace: "default", Name: "demo", UID: "u1"}

// episode runs one run of the workflow and returns the state it left, nil when
// the workflow ended.
func (o *outside) episode(t *testing.T, state *State, signals func(*testsuite.TestWorkflowEnvironment)) *State {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Second)
	o.register(env)
	o.calls = nil
	if signals != nil {
		signals(env)
	}
	env.ExecuteWorkflow(Workflow, Input{Proxy: ref, Version: Version, State: state})
	err := env.GetWorkflowError()
	if err == nil {
		return nil
	}
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) {
		t.Fatalf("workflow failed: %v", err)
	}
	var next Input
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	return next.State
}

func TestWorkflowStories(t *testing.T) {
	o := newOutside()
	wake := func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalChanged, nil) }, time.Minute)
	}
	check := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, o.calls); diff != "" {
			t.Errorf("activities (-want +got):\n%s", diff)
		}
	}

	t.Log("a new object is created with the ledger written ahead")
	state := o.episode(t, nil, nil)
	check(wire.ActivityClaim, wire.ActivityPublish, wire.ActivityCreate, wire.ActivityPublish)
	if !state.Ledger[0].AttemptUntil.IsZero() {
		t.Errorf("attemptUntil = %s after a Create that took one attempt, want none", state.Ledger[0].AttemptUntil)
	}

	t.Log("a wake-up without a change costs one claim")
	state = o.episode(t, state, wake)
	check(wire.ActivityClaim)

	t.Log("a verdict is published")
	state = o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		h := wire.Health{Incarnation: state.Ledger[0].Incarnation, Healthy: true, Verdict: "healthy", LatencyMillis: 5, ProbedAt: now}
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, h) }, time.Minute)
	})
	check(wire.ActivityClaim, wire.ActivityPublish)
	if got := o.claim.Stored.Phase; got != wire.PhaseReady {
		t.Errorf("phase = %s, want Ready", got)
	}

	t.Log("a spec edit replaces: delete, confirm gone, create")
	o.claim.Hash, o.claim.Inputs = "v1:bb", "in2"
	first := state.Ledger[0].Incarnation
	state = o.episode(t, state, wake)
	check(wire.ActivityClaim, wire.ActivityPublish, wire.ActivityDelete, wire.ActivityVanished, wire.ActivityPublish, wire.ActivityCreate, wire.ActivityPublish)
	if len(state.Ledger) != 1 || state.Ledger[0].Incarnation <= first {
		t.Errorf("ledger = %+v, want one entry after incarnation %d", state.Ledger, first)
	}

	t.Log("deletion ends the workflow with the ledger empty")
	o.claim.Deleting, o.claim.Inputs = true, "in3"
	if state = o.episode(t, state, wake); state != nil {
		t.Errorf("workflow goes on with %+v", state)
	}
	if o.instance != nil || !o.released || len(o.left) > 0 {
		t.Errorf("instance %v, released %v, left behind %v", o.instance, o.released, o.left)
	}
}

func TestWorkflowOnFailures(t *testing.T) {
	appError := func(kind string, once bool) error {
		return temporal.NewApplicationErrorWithOptions("why", kind, temporal.ApplicationErrorOptions{NonRetryable: once, Details: []any{wire.FailureDetail{Attempt: 1}}})
	}
	t.Run("a permanent refusal fails, and an edit tries again", func(t *testing.T) {
		o := newOutside()
		o.fail = func(a string) error {
			if a == wire.ActivityCreate {
				return appError(wire.FailurePermanent, true)
			}
			return nil
		}
		state := o.episode(t, nil, nil)
		if got := o.claim.Stored.Phase; got != wire.PhaseFailed {
			t.Fatalf("phase = %s, want Failed", got)
		}
		o.fail, o.claim.Inputs = nil, "in2"
		o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalChanged, nil) }, time.Minute)
		})
		if got := o.claim.Stored.ProviderID; got != "id" {
			t.Errorf("providerID = %q after the edit, want id", got)
		}
	})
	t.Run("quota is told, waited out quietly, and a deletion pre-empts the wait", func(t *testing.T) {
		o := newOutside()
		o.fail = func(a string) error {
			if a == wire.ActivityCreate {
				return appError(wire.FailureQuota, false)
			}
			return nil
		}
		var phase string
		state := o.episode(t, nil, func(env *testsuite.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				phase = o.claim.Stored.Phase
				o.claim.Deleting, o.claim.Inputs = true, "in2"
				env.SignalWorkflow(wire.SignalChanged, nil)
			}, 3*time.Hour)
		})
		if phase != wire.PhaseWaiting || state != nil || !o.released {
			t.Errorf("phase %s, state %+v, released %v", phase, state, o.released)
		}
	})
	t.Run("a superseded status claims again", func(t *testing.T) {
		o := newOutside()
		refuse := true
		o.fail = func(a string) error {
			if a == wire.ActivityPublish && refuse {
				refuse = false
				o.claim.Stored.Sequence = 7 // somebody else wrote
				return appError(wire.FailureSuperseded, true)
			}
			return nil
		}
		state := o.episode(t, nil, nil)
		if state.Stored.Sequence <= 7 || len(state.Ledger) != 1 {
			t.Errorf("state = %+v, want a sequence over 7 and one instance", state)
		}
	})
	t.Run("an instance that is slow to come up is waited for", func(t *testing.T) {
		o := newOutside()
		o.instance = &wire.Instance{State: wire.StateProvisioning, Attempt: 1}
		polls := 0
		o.fail = func(a string) error {
			if a != wire.ActivitySettle {
				return nil
			}
			if polls++; polls < 8 {
				return appError(wire.FailureNotYet, false)
			}
			o.instance.State, o.instance.Host = wire.StateRunning, "127.64.0.1"
			return nil
		}
		o.episode(t, nil, nil)
		if o.claim.Stored.Host != "127.64.0.1" || polls != 8 {
			t.Errorf("host %q after %d polls", o.claim.Stored.Host, polls)
		}
	})
	t.Run("an instance that stopped is replaced when a probe finds it dead", func(t *testing.T) {
		o := newOutside()
		state := o.episode(t, nil, nil)
		o.instance.State = wire.StateStopped
		o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			h := wire.Health{Incarnation: state.Ledger[0].Incarnation, Verdict: "dead", ProbedAt: now}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, h) }, time.Minute)
		})
		if !slices.Contains(o.calls, wire.ActivityDelete) || o.instance.State != wire.StateRunning {
			t.Errorf("calls %v, instance %+v", o.calls, o.instance)
		}
	})
}

func TestACreateThatAnswersSaysNothingOfAnEarlierOne(t *testing.T) {
	o := newOutside()
	first := true
	o.fail = func(a string) error {
		if a != wire.ActivityCreate || !first {
			return nil
		}
		first = false // the second attempt of one activity: the first may still be running
		return temporal.NewApplicationErrorWithOptions("why", wire.FailureSuperseded, temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{wire.FailureDetail{Attempt: 2}}})
	}
	state := o.episode(t, nil, nil)
	if r := state.Ledger[0]; r.LostUntil.IsZero() || !r.AttemptUntil.Equal(r.LostUntil) {
		t.Errorf("record = %+v, want the lost attempt in the ledger", r)
	}
}

func TestAVerdictThatSaysNothingNewCostsNothing(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		stale := wire.Health{Incarnation: state.Ledger[0].Incarnation + 1, Healthy: true, Verdict: "healthy"}
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, stale) }, time.Minute)
		env.RegisterDelayedCallback(func() {
			if len(o.calls) != 0 {
				t.Errorf("calls after a stale verdict: %v", o.calls)
			}
			env.SignalWorkflow(wire.SignalChanged, nil)
		}, 2*time.Minute)
	})
}

func TestASignalThatCannotBeDecodedIsDropped(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	for _, garbage := range []any{"garbage{", 7, []string{"x"}, nil} {
		o.claim.Deleting, o.claim.Inputs = false, "in1"
		after := o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			for i, name := range []string{wire.SignalHealth, wire.SignalObserved, wire.SignalChanged, wire.SignalLease} {
				if name == wire.SignalHealth || garbage != nil {
					env.RegisterDelayedCallback(func() { env.SignalWorkflow(name, garbage) }, time.Duration(i+1)*time.Minute)
				}
			}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalChanged, nil) }, time.Hour)
		})
		if after == nil {
			t.Fatalf("after signals with %v the workflow ended", garbage)
		}
	}
}

func TestADeletionGoesOnWithoutAStatusThatIsRefused(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.fail = func(a string) error {
		if a != wire.ActivityPublish {
			return nil
		}
		return temporal.NewApplicationErrorWithOptions("status is invalid", wire.FailurePermanent, temporal.ApplicationErrorOptions{NonRetryable: true})
	}
	o.claim.Deleting, o.claim.Inputs = true, "in2"
	state = o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalChanged, nil) }, time.Minute)
	})
	if state != nil || !o.released || o.instance != nil {
		t.Errorf("state %+v, released %v, instance %+v", state, o.released, o.instance)
	}
}

func TestNothingIsCreatedWithoutTheStatusThatSaysSo(t *testing.T) {
	o := newOutside()
	o.fail = func(a string) error {
		if a == wire.ActivityPublish {
			return temporal.NewApplicationErrorWithOptions("status is invalid", wire.FailurePermanent, temporal.ApplicationErrorOptions{NonRetryable: true})
		}
		return nil
	}
	o.episode(t, nil, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			if slices.Contains(o.calls, wire.ActivityCreate) {
				t.Errorf("calls %v: a Create without a ledger", o.calls)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			o.fail = nil
		}, time.Hour)
	})
	if o.claim.Stored.ProviderID != "id" {
		t.Errorf("stored = %+v after the API server took the status", o.claim.Stored)
	}
}

// TestASleepingProxyTellsWhatItWaitsFor in the Temporal UI, from the first moment of a
// run that nothing has woken yet.
func TestASleepingProxyTellsWhatItWaitsFor(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			var metadata sdkpb.WorkflowMetadata
			answer, err := env.QueryWorkflow("__temporal_workflow_metadata")
			if err == nil {
				err = answer.Get(&metadata)
			}
			for _, want := range []string{"default/demo", "127.64.0.1:3128", "nothing until something changes"} {
				if err != nil || !strings.Contains(metadata.GetCurrentDetails(), want) {
					t.Errorf("details %q, %v; want %q in them", metadata.GetCurrentDetails(), err, want)
				}
			}
			env.SignalWorkflow(wire.SignalChanged, nil)
		}, time.Minute)
	})
}
