package addon

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// episode runs one run of the workflow and returns the state it left, nil when the
// workflow ended.
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
	env.ExecuteWorkflow(Workflow, Input{Addon: ref, Version: Version, State: state})
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

func wake(env *testsuite.TestWorkflowEnvironment) {
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalChanged, nil) }, time.Second)
}

func (o *outside) called(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, o.calls); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}

func (o *outside) phase(t *testing.T, want string) {
	t.Helper()
	if st := o.claim.Stored; st.Phase != want {
		t.Errorf("phase = %s (%s), want %s", st.Phase, st.Message, want)
	}
}

const (
	claimed   = wire.ActivityAddonClaim
	previewed = wire.ActivityAddonPreview
	published = wire.ActivityAddonPublish
	applied   = wire.ActivityAddonApply + "/"
	hooked    = wire.ActivityAddonHook + "/"
	tidied    = wire.ActivityAddonTidy
)

func TestASyncWithoutHooksIsFiveActivities(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.called(t, claimed, previewed, published, applied+wire.PartAll, published)
	o.phase(t, wire.AddonSynced)
	st := o.claim.Stored
	if st.AppliedHash != "v1" || !st.Adopted || st.Sync != nil || st.PlanHash != "" || st.Sets != (wire.AddonSets{Render: "render-v1", Inventory: "exact-v1"}) {
		t.Errorf("the status is %+v", st)
	}
	if len(o.history) != 1 || o.history[0].Outcome != wire.OutcomeSucceeded || o.history[0].Revision != "demo-v1" {
		t.Errorf("the history is %+v", o.history)
	}

	t.Log("a wake-up without a change is a claim and a look, and writes nothing")
	state = o.episode(t, state, wake)
	o.called(t, claimed, previewed)

	t.Log("drift is healed, and told")
	o.drifted = 2
	o.episode(t, state, wake)
	o.called(t, claimed, previewed, published, applied+wire.PartAll, published)
	if last := o.history[len(o.history)-1]; !strings.HasPrefix(last.Message, "healed: ") {
		t.Errorf("the history says %+v", last)
	}
}

func TestTheInventoryIsPublishedBeforeAnythingIsWritten(t *testing.T) {
	o := newOutside()
	o.apply = func(wire.AddonApplyInput) *wire.AddonApplied {
		if got := o.claim.Stored.Sets.Inventory; got != "before-v1" {
			t.Errorf("the inventory of the object is %q while objects are written", got)
		}
		return nil
	}
	o.episode(t, nil, nil)
}

func TestHooksRunInTheirPlaces(t *testing.T) {
	o := newOutside()
	o.hooks = jobs
	o.episode(t, nil, nil)
	o.called(t, claimed, previewed, published, applied+wire.PartEarly,
		hooked+"pre-install/0", published, hooked+"pre-install/1", published, hooked+"pre-install/2", published, tidied, published,
		applied+wire.PartRest, published,
		hooked+"post-install/0", published, hooked+"post-install/1", published, tidied, published)
	o.phase(t, wire.AddonSynced)
	if len(o.hookRuns) != 5 {
		t.Errorf("%d ends of hooks are told, want 5", len(o.hookRuns))
	}
}

func TestAFailedHookIsRetriedAlone(t *testing.T) {
	failing := func(event string, number int) func(wire.AddonHookInput) wire.AddonHookResult {
		return func(in wire.AddonHookInput) wire.AddonHookResult {
			if in.Event == event && in.Number == number {
				return wire.AddonHookResult{Failed: "it failed"}
			}
			return wire.AddonHookResult{}
		}
	}
	t.Run("after the objects", func(t *testing.T) {
		o := newOutside()
		o.hooks, o.hook = jobs, failing("post-install", 1)
		state := o.episode(t, nil, nil)
		o.phase(t, wire.AddonError)
		if o.claim.Stored.Adopted || o.history[0].Outcome != wire.OutcomeFailed {
			t.Errorf("adopted %v, history %+v", o.claim.Stored.Adopted, o.history)
		}
		o.hook = nil
		o.episode(t, state, nil) // wakes up by itself
		o.called(t, claimed, previewed, published, hooked+"post-install/1", published, tidied, published)
		o.phase(t, wire.AddonSynced)
	})
	t.Run("before the objects, with what it needs", func(t *testing.T) {
		o := newOutside()
		o.hooks, o.hook = jobs, failing("pre-install", 2)
		state := o.episode(t, nil, nil)
		o.phase(t, wire.AddonError)
		if o.live != "" {
			t.Errorf("%q was applied after a hook that failed before", o.live)
		}
		o.hook = nil
		o.episode(t, state, nil)
		o.called(t, claimed, previewed, applied+wire.PartEarly, hooked+"pre-install/0", hooked+"pre-install/2", published, tidied, published,
			applied+wire.PartRest, published, hooked+"post-install/0", published, hooked+"post-install/1", published, tidied, published)
		first, again := o.ran[2], o.ran[4]
		if first == again {
			t.Errorf("the second run of the hook is %s again, which has failed", again)
		}
	})
	t.Run("whoever terminates the workflow before it is over", func(t *testing.T) {
		o := newOutside()
		o.hooks = jobs
		o.apply = func(in wire.AddonApplyInput) *wire.AddonApplied {
			if in.Part == wire.PartRest {
				return &wire.AddonApplied{Failed: "a webhook refuses"}
			}
			return nil
		}
		o.episode(t, nil, nil)
		o.apply = nil
		o.claim.Stored.Phase = wire.AddonSyncing // as it was while it was under way
		o.episode(t, nil, nil)
		o.called(t, claimed, previewed, applied+wire.PartEarly, applied+wire.PartRest, published,
			hooked+"post-install/0", published, hooked+"post-install/1", published, tidied, published)
		o.phase(t, wire.AddonSynced)
	})
	t.Run("whoever terminates the workflow in between", func(t *testing.T) {
		o := newOutside()
		o.hooks, o.hook = jobs, failing("post-install", 0)
		o.episode(t, nil, nil)
		o.hook = nil
		o.episode(t, nil, nil)
		if slices.Contains(o.calls, hooked+"pre-install/1") {
			t.Errorf("the new workflow ran %v", o.calls)
		}
		o.phase(t, wire.AddonSynced)
	})
}

func TestManualSyncAppliesWhatWasReviewed(t *testing.T) {
	manual := func() (*outside, *State) {
		o := newOutside()
		o.claim.ManualSync = true
		state := o.episode(t, nil, nil)
		o.called(t, claimed, previewed, published)
		o.phase(t, wire.AddonOutOfSync)
		return o, state
	}
	t.Run("by its hash", func(t *testing.T) {
		o, state := manual()
		o.approve(o.claim.Stored.PlanHash, "ann")
		o.episode(t, state, wake)
		o.phase(t, wire.AddonSynced)
		if last := o.history[len(o.history)-1]; last.Approver.Name != "ann" || last.PlanHash != "plan-v1-over--0" {
			t.Errorf("the history says %+v", last)
		}
	})
	t.Run("by a sync request", func(t *testing.T) {
		o, state := manual()
		o.claim.SyncRequest, o.claim.Inputs = 1, "in2"
		o.episode(t, state, wake)
		o.phase(t, wire.AddonSynced)
		if got := o.claim.Stored.AppliedSyncRequest; got != 1 {
			t.Errorf("appliedSyncRequest = %d, want 1", got)
		}
	})
	t.Run("but not what came after the review", func(t *testing.T) {
		o, state := manual()
		o.content = "v2"
		o.claim.SyncRequest, o.claim.Inputs = 1, "in2"
		state = o.episode(t, state, wake)
		o.called(t, claimed, previewed, published)
		o.phase(t, wire.AddonOutOfSync)
		if st := o.claim.Stored; st.AppliedSyncRequest != 1 || st.PlanHash != "plan-v2-over--0" {
			t.Errorf("the status is %+v", st)
		}
		o.approve("plan-v1-over--0", "ann")
		o.episode(t, state, wake)
		o.phase(t, wire.AddonOutOfSync)
		if o.live != "" {
			t.Errorf("%s was applied", o.live)
		}
	})
	t.Run("and stops where the cluster moves under it", func(t *testing.T) {
		o, state := manual()
		o.approve(o.claim.Stored.PlanHash, "ann")
		o.apply = func(wire.AddonApplyInput) *wire.AddonApplied {
			o.apply, o.live, o.drifted = nil, "v0", 3
			return &wire.AddonApplied{Moved: "ConfigMap a has other values"}
		}
		o.episode(t, state, wake)
		o.phase(t, wire.AddonOutOfSync)
		last := o.history[len(o.history)-1]
		if last.Outcome != wire.OutcomeStopped || !strings.Contains(last.Message, "ConfigMap a") || o.live != "v0" {
			t.Errorf("the history says %+v, live is %s", last, o.live)
		}
	})
	t.Run("and goes on with the approved plan after a failure", func(t *testing.T) {
		o, state := manual()
		approved := o.claim.Stored.Sets.Plan
		o.approve(o.claim.Stored.PlanHash, "ann")
		o.apply = func(in wire.AddonApplyInput) *wire.AddonApplied {
			o.live = "half"
			return &wire.AddonApplied{Failed: "a webhook refuses Deployment b"}
		}
		state = o.episode(t, state, wake)
		o.phase(t, wire.AddonError)
		o.apply = func(in wire.AddonApplyInput) *wire.AddonApplied {
			if in.Plan != approved || !in.Approved {
				t.Errorf("applied %+v, want the approved plan", in)
			}
			return nil
		}
		o.episode(t, state, nil)
		o.phase(t, wire.AddonSynced)
	})
}

func TestWhatWasGivenUpIsNotInTheHistory(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.claim.ManualSync, o.content = true, "v2"
	state = o.episode(t, state, wake)
	o.approve(o.claim.Stored.PlanHash, "ann")
	o.fail = failing(applied+wire.PartAll, wire.FailurePermanent)
	state = o.episode(t, state, wake)
	o.phase(t, wire.AddonError)

	o.fail, o.content, o.claim.Inputs = nil, "v1", "back"
	o.episode(t, state, wake)
	o.phase(t, wire.AddonSynced)
	want := wire.AddonSyncEnd{Revision: "demo-v1", Outcome: wire.OutcomeSucceeded, Message: "nothing had to change"}
	got := o.history[len(o.history)-1]
	got.At = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the end of the history (-want +got):\n%s", diff)
	}
}

func TestGates(t *testing.T) {
	for name, test := range map[string]struct {
		world func(*outside)
		phase string
		says  string
	}{
		"another's object":          {func(o *outside) { o.blocked = "it belongs to x" }, wire.AddonBlocked, "belongs to x"},
		"an adoption that changes":  {func(o *outside) { o.adopts = "changes y" }, wire.AddonBlocked, "changes y"},
		"one that may":              {func(o *outside) { o.adopts, o.claim.AllowAdoptChanges = "changes y", true }, wire.AddonSynced, ""},
		"a replacement":             {func(o *outside) { o.live, o.replace = "v0", 1 }, wire.AddonOutOfSync, "approval"},
		"a mass removal":            {func(o *outside) { o.live, o.mass = "v0", "9 of 10 objects go" }, wire.AddonOutOfSync, "9 of 10"},
		"suspended":                 {func(o *outside) { o.claim.Suspended = true }, wire.AddonSuspended, ""},
		"a circle":                  {func(o *outside) { o.claim.Problem = "a -> b -> a" }, wire.AddonError, "a -> b"},
		"dependencies not ready":    {func(o *outside) { o.claim.Waits = "waits for c" }, wire.AddonPending, "for c"},
		"nothing to do, but adopt":  {func(o *outside) { o.live = "v1" }, wire.AddonSynced, ""},
		"a source that cannot be":   {func(o *outside) { o.fail = failing(previewed, wire.FailurePermanent) }, wire.AddonError, "why"},
		"an outage of the source":   {func(o *outside) { o.fail = failing(previewed, wire.FailureTransient) }, wire.AddonError, "why"},
		"a write that is forbidden": {func(o *outside) { o.fail = failing(applied+wire.PartAll, wire.FailurePermanent) }, wire.AddonError, "why"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOutside()
			test.world(o)
			o.episode(t, nil, nil)
			o.phase(t, test.phase)
			if !strings.Contains(o.claim.Stored.Message, test.says) {
				t.Errorf("the message is %q, want one that says %q", o.claim.Stored.Message, test.says)
			}
			if test.phase != wire.AddonSynced && o.live == "v1" {
				t.Error("it was applied")
			}
		})
	}
}

func failing(name, kind string) func(string) error {
	return func(called string) error {
		if called == name {
			return failure(kind)
		}
		return nil
	}
}

func TestFailuresAreToldOnceAndTriedAgain(t *testing.T) {
	o := newOutside()
	o.fail = failing(previewed, wire.FailurePermanent)
	state := o.episode(t, nil, nil)
	waits := []time.Duration{}
	for range 6 {
		began := state.Failure.Until
		state = o.episode(t, state, nil)
		o.called(t, claimed, previewed) // nothing new to tell
		waits = append(waits, state.Failure.Until.Sub(began).Round(time.Second))
	}
	want := []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute, 15 * time.Minute}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}

	t.Log("an edit is tried at once")
	o.fail, o.claim.Inputs = nil, "in2"
	o.episode(t, state, wake)
	o.phase(t, wire.AddonSynced)
}

func TestHealthIsWaitedForInAnEpisodeOfItsOwn(t *testing.T) {
	o := newOutside()
	o.health = wire.AddonHealth{Status: "Progressing", Message: "Deployment a: 0 of 1"}
	state := o.episode(t, nil, nil)
	o.called(t, claimed, previewed, published, applied+wire.PartAll, published)
	o.healsAfter = 3 // looks
	state = o.episode(t, state, nil)
	o.called(t, claimed, previewed, published)
	if got := o.claim.Stored.Health.Status; got != wire.Healthy || state == nil {
		t.Errorf("health = %s, want Healthy", got)
	}
}

func TestARequestBySignalIsWrittenOnTheObject(t *testing.T) {
	o := newOutside()
	o.claim.ManualSync = true
	state := o.episode(t, nil, nil)
	o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalSync, wire.SyncInput{Who: "ann"}) }, time.Second)
	})
	o.called(t, wire.ActivityAddonAsk, claimed, previewed, published, applied+wire.PartAll, published)
	o.phase(t, wire.AddonSynced)
}

func TestATimeoutIsToldOnceInWordsOfItsOwn(t *testing.T) {
	o := newOutside()
	o.fail = func(name string) error {
		if name == previewed {
			return temporal.NewHeartbeatTimeoutError()
		}
		return nil
	}
	state := o.episode(t, nil, nil)
	o.phase(t, wire.AddonError)
	said := o.claim.Stored
	if want := "it was not done in time, or no worker lived to do it (Heartbeat)"; said.Message != want {
		t.Errorf("the message is %q, want %q", said.Message, want)
	}
	o.episode(t, state, nil)
	if o.claim.Stored.Sequence != said.Sequence {
		t.Errorf("it is told again: %q", o.claim.Stored.Message)
	}
}
