package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

func TestNext(t *testing.T) {
	fresh := func(r *Record) { r.Fresh, r.AttemptUntil = true, now.Add(createWindow+wire.AttemptSlack) }
	deleting := func(r *Record) { r.Deleting = true }
	elsewhere := func(r *Record) { r.Provider = "old" }
	trouble := func(kind string) func(*State, *wire.Claim) {
		return func(s *State, _ *wire.Claim) { s.Trouble = &Trouble{Type: kind, Message: "why"} }
	}
	tests := []struct {
		name string
		in   *world
		want StepKind
		// phase and reason of the status, where one is published.
		phase, reason string
		quiet         bool
	}{
		{name: "a new object gets a ledger entry first", in: aProxy(), want: Enter},
		{name: "the entry is published before Create", in: aProxy().having("", fresh), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonProvisioning},
		{name: "a published entry is created", in: aProxy().having("", fresh).published(), want: Create},
		{name: "a Create whose window is used up is entered again", in: aProxy().having("", fresh, func(r *Record) { r.AttemptUntil = now.Add(time.Minute) }).published(), want: Enter},
		{name: "an instance on its way up is waited for", in: aProxy().having(wire.StateProvisioning).published(), want: Settle},
		{name: "an instance that cannot be judged is waited for", in: aProxy().having(wire.StateUnknown).published(), want: Settle},
		{name: "a running instance is published as created", in: aProxy().having(wire.StateRunning), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonCreated},
		{name: "a running instance without a verdict is parked", in: aProxy().having(wire.StateRunning).published(), want: Park},
		{name: "a healthy instance is Ready", in: aProxy().having(wire.StateRunning).healthy(true), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonCreated},
		{name: "an unhealthy instance is Unhealthy", in: aProxy().having(wire.StateRunning).healthy(false), want: Publish, phase: wire.PhaseUnhealthy, reason: wire.ReasonCreated},
		{name: "a hint makes the plan look", in: aProxy().having(wire.StateRunning).published().with(func(s *State, _ *wire.Claim) { s.Look = true }), want: Get},
		{name: "after a terminated workflow the instance is looked at", in: aProxy().having(""), want: Get},
		{name: "a stopped instance is deleted", in: aProxy().having(wire.StateStopped).published(), want: Delete},
		{name: "a stopped instance is told as replacing", in: aProxy().having(wire.StateStopped), want: Publish, phase: wire.PhaseReplacing, reason: wire.ReasonReplacing},
		{name: "a deleted instance is waited for until gone", in: aProxy().having(wire.StateStopped, deleting).published(), want: Vanish},
		{name: "a halted instance is started by Create", in: aProxy().having(wire.StateHalted), want: Enter},
		{name: "a vanished instance is confirmed gone before the next", in: aProxy().having(wire.StateGone).published(), want: Vanish},
		{name: "a missing instance with an attempt pending is created again", in: aProxy().having(wire.StateGone, func(r *Record) { r.AttemptUntil = now.Add(time.Minute) }), want: Enter},
		{name: "another hash replaces", in: aProxy().having(wire.StateRunning, func(r *Record) { r.Hash = "v1:bb" }).published(), want: Delete},
		{name: "a hash of another version is adopted", in: aProxy().having(wire.StateRunning, func(r *Record) { r.Hash = "v0:bb" }), want: Enter},
		{name: "no hash is adopted", in: aProxy().having(wire.StateRunning, func(r *Record) { r.Hash = "" }), want: Enter},
		{name: "the replace annotation replaces", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Replace = "now" }).published(), want: Delete},
		{name: "a replace annotation that was heeded does nothing", in: aProxy().having(wire.StateRunning).with(func(s *State, c *wire.Claim) { c.Replace, s.ReplaceSeen = "now", "now" }).published(), want: Park},
		{name: "an instance at the old provider is deleted before the new one is created", in: aProxy().having(wire.StateRunning, elsewhere).published(), want: Delete},
		{name: "an instance at a place that is no longer allowed is deleted", in: aProxy().having(wire.StateRunning, func(r *Record) { r.Place = "z9" }).published(), want: Delete},
		{name: "quota waits", in: aProxy().having("", fresh, func(r *Record) { r.AttemptUntil = now.Add(quietWindow + wire.AttemptSlack) }).with(trouble(wire.FailureQuota)), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonQuota},
		{name: "quota is waited out quietly", in: aProxy().having("", fresh, func(r *Record) { r.AttemptUntil = now.Add(quietWindow + wire.AttemptSlack) }).with(trouble(wire.FailureQuota)).published(), want: Create, quiet: true},
		{name: "a quiet Create needs a longer window in the ledger", in: aProxy().having("", fresh).with(trouble(wire.FailureQuota)), want: Enter},
		{name: "no worker waits", in: aProxy().having(wire.StateStopped).with(trouble(wire.FailureProviderUnavailable)), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonUnavailable},
		{name: "a transient failure is told", in: aProxy().having(wire.StateProvisioning).with(trouble(wire.FailureTransient)), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonTransient},
		{name: "a permanent failure fails", in: aProxy().having("", fresh).with(trouble(wire.FailurePermanent)), want: Publish, phase: wire.PhaseFailed, reason: wire.ReasonPermanent},
		{name: "a permanent failure stays", in: aProxy().having("", fresh).with(trouble(wire.FailurePermanent)).published(), want: Park},
		{name: "a missing Secret fails a proxy that has no instance", in: aProxy().with(func(_ *State, c *wire.Claim) { c.Problem = &wire.Problem{Reason: wire.ReasonCloudInit, Message: "m"} }), want: Publish, phase: wire.PhaseFailed, reason: wire.ReasonCloudInit},
		{name: "a missing Secret keeps a running instance in service", in: aProxy().having(wire.StateRunning).healthy(true).with(func(_ *State, c *wire.Claim) { c.Problem = &wire.Problem{Reason: wire.ReasonCloudInit, Message: "m"} }), want: Publish, phase: wire.PhaseReady, reason: wire.ReasonCloudInit},
		{name: "an unknown provider waits", in: aProxy().with(func(_ *State, c *wire.Claim) { c.Problem = &wire.Problem{Reason: wire.ReasonUnavailable, Message: "m"} }), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonUnavailable},
		{name: "a provider that left the file keeps its running instance in service", in: aProxy().having(wire.StateRunning).healthy(true).published().with(func(_ *State, c *wire.Claim) {
			c.Places, c.Hash, c.Problem = nil, "", &wire.Problem{Reason: wire.ReasonUnavailable, Message: "m"}
		}), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonUnavailable},
		{name: "a look that no worker answers is told", in: aProxy().having("").with(trouble(wire.FailureProviderUnavailable)), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonUnavailable},
		{name: "deletion deletes the instance", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published(), want: Delete},
		{name: "deletion with an empty ledger releases", in: aProxy().with(func(_ *State, c *wire.Claim) { c.Deleting = true }), want: Release},
		{name: "skip-cleanup takes our marks off the instance", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Deleting, c.SkipCleanup = true, true }).published(), want: Disown},
		{name: "skip-cleanup needs no provider", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) {
			c.Deleting, c.SkipCleanup, c.Places, c.Problem = true, true, nil, &wire.Problem{Reason: wire.ReasonUnavailable}
		}).published(), want: Disown},
		{name: "skip-cleanup then releases whatever there is", in: aProxy().having(wire.StateRunning, func(r *Record) { r.Disowned = true }).with(func(_ *State, c *wire.Claim) { c.Deleting, c.SkipCleanup = true, true }), want: Release},
		{name: "a permanent failure does not latch a deletion", in: aProxy().having(wire.StateRunning).with(trouble(wire.FailurePermanent)).with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published(), want: Delete, quiet: true},
		{name: "deletion goes on while paused", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Deleting, c.Paused = true, true }).published(), want: Delete},
		{name: "paused creates nothing", in: aProxy().with(func(_ *State, c *wire.Claim) { c.Paused = true }), want: Publish, phase: wire.PhasePending, reason: wire.ReasonPaused},
		{name: "paused keeps telling health", in: aProxy().having(wire.StateRunning).healthy(false).with(func(_ *State, c *wire.Claim) { c.Paused = true }), want: Publish, phase: wire.PhaseUnhealthy, reason: wire.ReasonPaused},
		{name: "an object without a trace is let go", in: aProxy().with(func(_ *State, c *wire.Claim) { c.Gone = true }), want: End},
		{name: "an object whose finalizer was stripped leaves its instance to the orphan sweep and its kill budget", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Gone = true }), want: End},
		{name: "another cluster where the object is not there changes nothing", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Gone, c.ClusterID = true, "c2" }), want: Park},
		{name: "another cluster with the same object is told", in: aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.ClusterID = "c2" }), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonWrongCluster},
		{name: "an External proxy is published with its endpoint", in: external(), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonExternal},
		{name: "an External proxy is parked", in: external().published(), want: Park},
		{name: "a proxy that became External loses its instance", in: external().having(wire.StateRunning).published(), want: Delete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Next(tt.in.state, tt.in.claim, now)
			if got.Kind != tt.want || got.Quiet != tt.quiet {
				t.Fatalf("step = %s (quiet %v), want %s (quiet %v)\n%+v", got.Kind, got.Quiet, tt.want, tt.quiet, got)
			}
			if got.Kind != Publish {
				return
			}
			reason := condition(got.Status.Conditions, wire.ConditionProvisioned).Reason
			if diff := cmp.Diff([]string{tt.phase, tt.reason}, []string{got.Status.Phase, reason}); diff != "" {
				t.Errorf("phase and reason (-want +got):\n%s", diff)
			}
			if got.Status.Sequence != tt.in.state.Stored.Sequence+1 {
				t.Errorf("sequence = %d after %d", got.Status.Sequence, tt.in.state.Stored.Sequence)
			}
		})
	}
}

// TestUnsent deletes an entry whose Create was not sent, since there was room made
// for it, without waiting for an attempt that cannot be running.
func TestUnsent(t *testing.T) {
	for _, sent := range []bool{false, true} { // before there was room made
		w := aProxy().having("", func(r *Record) { r.Fresh, r.Sent, r.AttemptUntil = true, sent, now.Add(24*time.Hour) }).with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published()
		if got := Next(w.state, w.claim, now); got.Kind != Delete || !got.Entry.AttemptUntil.IsZero() {
			t.Errorf("sent before %v: step = %+v, want Delete without an attempt to wait for", sent, got)
		}
		lost := now.Add(time.Minute)
		w.state.Ledger[0].LostUntil = lost
		if got := Next(w.state, w.claim, now); got.Kind != Delete || !got.Entry.AttemptUntil.Equal(lost) {
			t.Errorf("sent before %v: step = %+v, want Delete that knows of the lost attempt", sent, got)
		}
	}
}

// TestLostAttempt: a workflow that was terminated left an attempt under way. Whatever
// its successor does meanwhile, nothing is gone before that attempt has ended.
func TestLostAttempt(t *testing.T) {
	lost := now.Add(time.Minute)
	var s State
	claim := aProxy().claim
	claim.Stored = wire.ProxyStatus{Sequence: 1, Ledger: []wire.Entry{{Provider: "p", Name: "proxy-x", Incarnation: 1, Hash: "v1:aa", AttemptUntil: lost}}}
	s.merge(claim, now)
	s.Ledger[0].see(wire.Instance{State: wire.StateGone})
	step := Next(s, claim, now)
	if step.Kind != Enter {
		t.Fatalf("step = %+v, want room for another Create", step)
	}
	s.enter(step.Entry, claim)
	claim.Deleting = true
	for step = Next(s, claim, now); step.Kind == Publish; step = Next(s, claim, now) {
		s.Stored = step.Status
	}
	if step.Kind != Delete || step.Entry.AttemptUntil.Before(lost) {
		t.Errorf("step = %+v, want Delete that knows of the lost attempt", step)
	}
}
