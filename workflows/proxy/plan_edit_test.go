package proxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

// claimed lets the state take in the claim, as the workflow does before it plans.
func (w *world) claimed() *world {
	w.claim.Stored = w.state.Stored
	w.state.merge(w.claim, now)
	return w
}

// gone is after the provider confirmed that the nth instance is gone.
func (w *world) gone(n int) *world {
	w.state.drop(w.state.Ledger[n].Entry, now)
	return w
}

func moved(_ *State, c *wire.Claim) { c.Provider, c.Places, c.Inputs = "q", []string{"z1"}, "in2" }

func beingDeleted(_ *State, c *wire.Claim) { c.Deleting, c.Inputs = true, "in3" }

// TestEdits come at any moment of a life.
func TestEdits(t *testing.T) {
	fresh := func(r *Record) { r.Fresh, r.AttemptUntil = true, now.Add(createWindow+wire.AttemptSlack) }
	waiting := func(r *Record) { r.Fresh, r.AttemptUntil = true, now.Add(quietWindow+wire.AttemptSlack) }
	deleting := func(r *Record) { r.Deleting = true }
	quota := func(s *State, _ *wire.Claim) { s.Trouble = &Trouble{Type: wire.FailureQuota, Message: "5 of 5"} }
	unserved := func(s *State, _ *wire.Claim) {
		s.Trouble = &Trouble{Type: wire.FailureProviderUnavailable, Message: "no worker"}
	}
	nobodyServes := func(_ *State, c *wire.Claim) { c.Unserved = []string{"p"} }
	second := func(r *Record) { r.Provider, r.Incarnation = "old", 2 }
	tests := []struct {
		name          string
		in            *world
		want          StepKind
		phase, reason string // of a step Publish
		quiet         bool
	}{
		{name: "while it is created: told as replacing", in: aProxy().having("", fresh).published().with(edited).claimed(), want: Publish, phase: wire.PhaseReplacing, reason: wire.ReasonReplacing},
		{name: "while it is created: deleted, whatever was made", in: aProxy().having("", fresh).published().with(edited).published(), want: Delete},
		{name: "while it comes up", in: aProxy().having(wire.StateProvisioning).published().with(edited).published(), want: Delete},
		{name: "while the old one goes", in: aProxy().having(wire.StateRunning, deleting).with(edited).published(), want: Vanish},
		{name: "taken back while the old one goes: too late", in: aProxy().having(wire.StateRunning, deleting).published(), want: Vanish},
		{name: "while the object is deleted: nothing is made", in: aProxy().having(wire.StateRunning).with(edited).with(beingDeleted).published(), want: Delete},
		{name: "while the object is deleted and its ledger is empty", in: aProxy().with(edited).with(beingDeleted), want: Release},
		{name: "while it waits for quota: the wait is over", in: aProxy().having("", waiting).with(quota).published().with(edited).claimed(), want: Publish, phase: wire.PhaseReplacing, reason: wire.ReasonReplacing},
		{name: "while it waits for quota: what may have been made goes", in: aProxy().having("", waiting).with(quota).published().with(edited).claimed().published(), want: Delete},
		{name: "while it waits for quota: the next one is made as edited", in: aProxy().having("", waiting).with(quota).published().with(edited).claimed().gone(0), want: Enter},
		{name: "of the provider, while it waits for quota", in: aProxy().having("", waiting).with(quota).published().with(moved).claimed().published(), want: Delete},
		{name: "deletion while it waits for quota", in: aProxy().having("", waiting).with(quota).published().with(beingDeleted).claimed().published(), want: Delete},
		{name: "of the provider: the old place is emptied first", in: aProxy().having(wire.StateRunning, deleting).with(moved).published(), want: Vanish},
		{name: "of the provider: then the new place is used", in: aProxy().having(wire.StateRunning).with(moved).gone(0), want: Enter},
		{name: "of a Secret that was rotated", in: aProxy().having(wire.StateRunning).healthy(true).published().with(edited).published(), want: Delete},
		{name: "from External to Managed", in: external().healthy(true).published().with(func(_ *State, c *wire.Claim) { *c = aProxy().claim; c.Inputs = "in2" }).claimed(), want: Enter},
		{name: "deletion of two instances takes the first", in: aProxy().having(wire.StateRunning).having(wire.StateRunning, second).with(beingDeleted).published(), want: Delete},
		{name: "deletion that was accepted is waited for", in: aProxy().having(wire.StateRunning, deleting).with(beingDeleted).published(), want: Vanish},
		{name: "deletion without a worker is told", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(unserved), want: Publish, phase: wire.PhaseDeleting, reason: wire.ReasonUnavailable},
		{name: "deletion without a worker goes on quietly", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(unserved).published(), want: Delete, quiet: true},
		{name: "deletion with the creation budget used up", in: aProxy().with(lostAt(1, 2, 3, 4, 5)).with(beingDeleted), want: Release},
		{name: "deletion in another cluster is only told", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(func(_ *State, c *wire.Claim) { c.ClusterID = "c2" }), want: Publish, phase: wire.PhaseWaiting, reason: wire.ReasonWrongCluster},
		{name: "and stays", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(func(_ *State, c *wire.Claim) { c.ClusterID = "c2" }).published(), want: Park},
		{name: "unless by skip-cleanup, which deletes no instance", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(func(_ *State, c *wire.Claim) { c.ClusterID, c.SkipCleanup = "c2", true }), want: Release},
		{name: "deletion of what the providers file does not have is told at once", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(nobodyServes), want: Publish, phase: wire.PhaseDeleting, reason: wire.ReasonUnavailable},
		{name: "and waits for it quietly", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(nobodyServes).published(), want: Delete, quiet: true},
		{name: "and once that is back, is waited for like any other", in: aProxy().having(wire.StateRunning, deleting).with(beingDeleted).with(nobodyServes).published(), want: Vanish},
		{name: "skip-cleanup asks nobody who is not there", in: aProxy().having(wire.StateRunning).with(beingDeleted).with(nobodyServes).with(func(_ *State, c *wire.Claim) { c.SkipCleanup = true }), want: Release},
		{name: "to External: drained like any other", in: aProxy().draining().having(wire.StateRunning).healthy(true).published().with(func(_ *State, c *wire.Claim) { *c = external().draining().claim; c.Inputs = "in2" }).claimed(), want: Publish, phase: wire.PhaseDraining, reason: wire.ReasonDraining},
		{name: "a halted instance is started once that is in the ledger", in: aProxy().having(wire.StateHalted, fresh).published(), want: Create},
		{name: "a provider that is busy is told as one that fails for a while", in: aProxy().having("", waiting).with(func(s *State, _ *wire.Claim) { s.Trouble = &Trouble{Type: wire.FailureBusy} }), want: Publish, phase: wire.PhaseProvisioning, reason: wire.ReasonTransient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Next(tt.in.state, tt.in.claim, now)
			if got.Kind != tt.want || got.Quiet != tt.quiet || got.Status.Phase != tt.phase {
				t.Fatalf("step = %s %s (quiet %v), want %s %s (quiet %v)\n%+v", got.Kind, got.Status.Phase, got.Quiet, tt.want, tt.phase, tt.quiet, got)
			}
			if c := condition(got.Status.Conditions, wire.ConditionProvisioned); c != nil && c.Reason != tt.reason {
				t.Errorf("reason %s, want %s", c.Reason, tt.reason)
			}
		})
	}
}

func TestTheNextInstanceIsTheEditedOne(t *testing.T) {
	w := aProxy().having(wire.StateRunning).with(edited).with(moved).gone(0)
	got := Next(w.state, w.claim, now).Entry
	want := wire.Entry{Provider: "q", Place: "z1", Name: "proxy-x", Incarnation: 1, Hash: "v1:bb", AttemptUntil: now.Add(createWindow + wire.AttemptSlack)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func TestAVerdictOnAnEndpointIsNoneOnAnInstance(t *testing.T) {
	w := external().healthy(true)
	w.state.Health.Incarnation = 0
	w.published().with(func(_ *State, c *wire.Claim) { *c = aProxy().claim }).claimed()
	w.state.enter(Next(w.state, w.claim, now).Entry, w.claim)
	got := Next(w.state, w.claim, now).Status
	if got.Host != "" || condition(got.Conditions, wire.ConditionHealthy).Status != wire.Unknown {
		t.Errorf("status = %+v", got)
	}
}
