package proxy

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/temporal/wire"
)

// bannable is a proxy that is up at 127.64.0.1 and healthy, with a limit of five bans;
// the instances after it are at hosts.
func bannable(t *testing.T, hosts ...string) (*outside, *State) {
	t.Helper()
	o := newOutside()
	o.hosts = append([]string{"127.64.0.1"}, hosts...)
	o.claim.Bans = &wire.BanLimit{Count: 5, Window: 10 * time.Minute}
	state := o.episode(t, nil, nil)
	return o, o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		h := wire.Health{Incarnation: state.Ledger[0].Incarnation, Healthy: true, Verdict: "healthy", ProbedAt: now}
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, h) }, time.Minute)
	})
}

// hint makes the api tell that it has something to say of the leases.
func hint(env *testsuite.TestWorkflowEnvironment) {
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalLease, nil) }, time.Minute)
}

// checked compares the calls of an episode.
func (o *outside) checked(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, o.calls); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}

func (o *outside) toldReason() string {
	return condition(o.claim.Stored.Conditions, wire.ConditionProvisioned).Reason
}

func TestABannedAddressIsReplaced(t *testing.T) {
	o, state := bannable(t, "127.64.0.2")
	o.claim.DrainTimeout = time.Minute
	o.bans = 4
	state = o.episode(t, state, hint)
	o.checked(t, wire.ActivityClaim, wire.ActivityBans)
	o.bans = 5
	o.episode(t, state, hint)
	o.checked(t,
		wire.ActivityClaim, wire.ActivityBans, wire.ActivityReplace, wire.ActivityClaim,
		wire.ActivityPublish, wire.ActivityDrained,
		wire.ActivityPublish, wire.ActivityDelete, wire.ActivityVanished,
		wire.ActivityPublish, wire.ActivityCreate, wire.ActivityPublish)
	got := []string{o.claim.Replace, o.claim.Stored.ObservedReplace, o.claim.Stored.Host, o.toldReason()}
	if diff := cmp.Diff([]string{firstBan, firstBan, "127.64.0.2", wire.ReasonCreated}, got); diff != "" {
		t.Errorf("annotation, observed, host and reason (-want +got):\n%s", diff)
	}
}

func TestTheSameAddressIsReplacedThreeTimes(t *testing.T) {
	t.Run("where the provider has no other", func(t *testing.T) {
		o, state := bannable(t)
		o.bans = 5
		state = o.episode(t, state, hint)
		if deletions := count(o.calls, wire.ActivityDelete); deletions != 3 || o.toldReason() != wire.ReasonSameAddress || o.claim.Stored.Host != "127.64.0.1" {
			t.Errorf("%d deletions, status %+v", deletions, o.claim.Stored)
		}
		o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			hint(env)
			env.RegisterDelayedCallback(func() {
				o.checked(t) // nothing
				env.SignalWorkflow(wire.SignalChanged, nil)
			}, time.Hour)
		})
	})
	t.Run("or until it has", func(t *testing.T) {
		o, state := bannable(t, "127.64.0.1", "127.64.0.2")
		o.bans = 5
		o.episode(t, state, hint)
		if deletions := count(o.calls, wire.ActivityDelete); deletions != 2 || o.toldReason() != wire.ReasonCreated || o.claim.Stored.Host != "127.64.0.2" {
			t.Errorf("%d deletions, status %+v", deletions, o.claim.Stored)
		}
	})
	t.Run("so is the same exit, once a probe has seen it", func(t *testing.T) {
		o, state := bannable(t, "127.64.0.2", "127.64.0.3")
		state.Health.ExitIP, o.bans = "203.0.113.7", 5
		state = o.episode(t, state, hint)
		o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			h := wire.Health{Incarnation: state.Ledger[0].Incarnation, Healthy: true, Verdict: "healthy", ExitIP: "203.0.113.7", ProbedAt: now}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, h) }, time.Minute)
		})
		if o.claim.Replace != "bans/2/203.0.113.7 banned: 5 reports within 10m0s" || o.claim.Stored.Host != "127.64.0.3" {
			t.Errorf("annotation %s, status %+v", o.claim.Replace, o.claim.Stored)
		}
	})
}

func count(calls []string, name string) (n int) {
	for _, c := range calls {
		if c == name {
			n++
		}
	}
	return n
}

func TestAHintThatNothingFollowsFromCostsNoActivity(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		hint(env)
		env.RegisterDelayedCallback(func() {
			o.checked(t)
			env.SignalWorkflow(wire.SignalChanged, nil)
		}, time.Hour)
	})
}

// TestAnAPIThatDoesNotAnswer keeps nothing from going on, and is given up.
func TestAnAPIThatDoesNotAnswer(t *testing.T) {
	away := func(o *outside) {
		o.bans = 5
		o.fail = func(name string) error {
			if name == wire.ActivityBans {
				return temporal.NewApplicationErrorWithOptions("why", wire.FailureNotYet, temporal.ApplicationErrorOptions{NextRetryDelay: 15 * time.Second})
			}
			return nil
		}
	}
	t.Run("it is given up until the next hint", func(t *testing.T) {
		o, state := bannable(t, "127.64.0.2")
		away(o)
		state = o.episode(t, state, hint)
		if state.Suspicion != nil || slices.Contains(o.calls, wire.ActivityReplace) {
			t.Errorf("suspicion %+v after calls %v", state.Suspicion, o.calls)
		}
		o.fail = nil
		o.episode(t, state, hint)
		if o.claim.Stored.Host != "127.64.0.2" {
			t.Errorf("status %+v after the next hint", o.claim.Stored)
		}
	})
	t.Run("a verdict is told meanwhile, and the api asked on", func(t *testing.T) {
		o, state := bannable(t, "127.64.0.2")
		away(o)
		var told string
		o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			hint(env)
			h := wire.Health{Incarnation: state.Ledger[0].Incarnation, Verdict: "dead", ProbedAt: now}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(wire.SignalHealth, h) }, 80*time.Second)
			env.RegisterDelayedCallback(func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				told, o.fail = o.claim.Stored.Phase, nil
			}, 2*time.Minute)
		})
		if told != wire.PhaseUnhealthy || o.claim.Stored.Host != "127.64.0.2" {
			t.Errorf("told %s, status %+v", told, o.claim.Stored)
		}
	})
	t.Run("a deletion goes on", func(t *testing.T) {
		o, state := bannable(t)
		away(o)
		var clock *testsuite.TestWorkflowEnvironment
		var deleted time.Time
		state = o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
			clock = env
			hint(env)
			env.RegisterDelayedCallback(func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.claim.Deleting, o.claim.Inputs, deleted = true, "in2", env.Now()
				env.SignalWorkflow(wire.SignalChanged, nil)
			}, 80*time.Second)
		})
		if took := clock.Now().Sub(deleted); state != nil || !o.released || took > time.Minute {
			t.Errorf("state %+v, released %v after %s", state, o.released, took)
		}
	})
}

func TestAHintThatComesWhileTheAPIAnswersIsFollowedUp(t *testing.T) {
	o, state := bannable(t, "127.64.0.2")
	o.bans = 4
	o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		hint(env)
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			if info.ActivityType.Name == wire.ActivityBans && count(o.calls, wire.ActivityBans) == 0 {
				env.SignalWorkflow(wire.SignalLease, nil)
			}
		})
		env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
			if info.ActivityType.Name == wire.ActivityBans { // with an answer from before the fifth ban
				o.bans = 5
			}
		})
	})
	want := []string{wire.ActivityClaim, wire.ActivityBans, wire.ActivityBans, wire.ActivityReplace}
	if diff := cmp.Diff(want, o.calls[:min(len(o.calls), len(want))]); diff != "" {
		t.Errorf("activities (-want +got):\n%s", diff)
	}
}

// TestARunThatManyHintsComeToIsNotTooLong: each hint is an event, whatever follows from it.
func TestARunThatManyHintsComeToIsNotTooLong(t *testing.T) {
	o := newOutside()
	state := o.episode(t, nil, nil)
	after := o.episode(t, state, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			env.SetContinueAsNewSuggested(true)
			env.SignalWorkflow(wire.SignalLease, nil)
		}, time.Minute)
	})
	o.checked(t)
	if diff := cmp.Diff(state, after); diff != "" {
		t.Errorf("the state of the next run (-want +got):\n%s", diff)
	}
}
