package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

// draining gives the leases of instances some time.
func (w *world) draining() *world {
	w.claim.DrainTimeout = 5 * time.Minute
	return w
}

func edited(_ *State, c *wire.Claim) { c.Hash, c.Inputs = "v1:bb", "in2" }

func waited(until time.Duration, done bool) func(*State, *wire.Claim) {
	return func(s *State, _ *wire.Claim) { s.Drain = &DrainWait{Incarnation: 1, Until: now.Add(until), Done: done} }
}

func TestDraining(t *testing.T) {
	elsewhere := func(r *Record) { r.Provider = "old" }
	up := func(change ...func(*Record)) *world {
		return aProxy().draining().having(wire.StateRunning, change...).healthy(true)
	}
	tests := []struct {
		name  string
		in    *world
		want  StepKind
		phase string // of a step Publish
	}{
		{name: "an edit drains a healthy instance first", in: up().published().with(edited), want: Publish, phase: wire.PhaseDraining},
		{name: "its leases are waited for", in: up().with(edited).published(), want: Drain},
		{name: "the last lease ends the wait", in: up().with(edited).published().with(waited(time.Minute, true)), want: Publish, phase: wire.PhaseReplacing},
		{name: "the instance is deleted then", in: up().with(edited).with(waited(time.Minute, true)).published(), want: Delete},
		{name: "a timeout that is edited meanwhile counts from the start", in: up().with(edited).with(func(s *State, c *wire.Claim) {
			s.Drain = &DrainWait{Incarnation: 1, Since: now.Add(-time.Minute), Until: now.Add(time.Hour)}
			c.DrainTimeout = time.Minute
		}).published(), want: Delete},
		{name: "the timeout ends the wait", in: up().with(edited).with(waited(0, false)).published(), want: Delete},
		{name: "a wait for another incarnation does not count", in: up().with(edited).with(func(s *State, _ *wire.Claim) { s.Drain = &DrainWait{Incarnation: 9, Done: true} }), want: Publish, phase: wire.PhaseDraining},
		{name: "an edit that is taken back keeps the instance", in: up().with(edited).published().with(func(_ *State, c *wire.Claim) { c.Hash = "v1:aa" }), want: Publish, phase: wire.PhaseReady},
		{name: "an unhealthy instance does not drain", in: up().healthy(false).with(edited).published(), want: Delete},
		{name: "an instance without a verdict was never lent", in: aProxy().draining().having(wire.StateRunning).with(edited).published(), want: Delete},
		{name: "a stopped instance does not drain", in: aProxy().draining().having(wire.StateStopped).healthy(true).with(edited).published(), want: Delete},
		{name: "a drain timeout of nothing does not drain", in: aProxy().having(wire.StateRunning).healthy(true).with(edited).published(), want: Delete},
		{name: "deletion does not drain", in: up().with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published(), want: Delete},
		{name: "deletion ends a wait", in: up().with(edited).with(waited(time.Minute, false)).with(func(_ *State, c *wire.Claim) { c.Deleting = true }).published(), want: Delete},
		{name: "replace drains", in: up().with(func(_ *State, c *wire.Claim) { c.Replace = "now" }).published(), want: Drain},
		{name: "an instance at the old provider drains before the new one is made", in: up(elsewhere).published(), want: Drain},
		{name: "an instance at a place that is no longer allowed drains", in: up(func(r *Record) { r.Place = "z9" }).published(), want: Drain},
		{name: "a proxy that became External drains its instance", in: external().draining().having(wire.StateRunning).healthy(true).published(), want: Drain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Next(tt.in.state, tt.in.claim, now)
			if got.Kind != tt.want || got.Status.Phase != tt.phase {
				t.Fatalf("step = %s %s, want %s %s\n%+v", got.Kind, got.Status.Phase, tt.want, tt.phase, got)
			}
			if until := now.Add(5 * time.Minute); got.Kind == Drain && !got.Until.Equal(until) {
				t.Errorf("until %s, want %s", got.Until, until)
			}
		})
	}
}

func TestTheReasonOfAReplacementIsTold(t *testing.T) {
	for value, want := range map[string]string{
		"now":                         "asked for by annotation crawl.example.com/replace",
		"2026-03-01T12:00:00Z banned": "asked for by annotation crawl.example.com/replace: banned",
		"max-age/7":                   "older than replacement.maxAge",
	} {
		w := aProxy().having(wire.StateRunning).with(func(_ *State, c *wire.Claim) { c.Replace = value })
		if got := condition(Next(w.state, w.claim, now).Status.Conditions, wire.ConditionProvisioned); got.Message != want {
			t.Errorf("%q is told as %q, want %q", value, got.Message, want)
		}
	}
}

func TestADrainingProxyKeepsItsAddressAndIsNotReady(t *testing.T) {
	for name, w := range map[string]*world{
		"after an edit":  aProxy().draining().having(wire.StateRunning).healthy(true).with(edited),
		"after a move":   aProxy().draining().having(wire.StateRunning, func(r *Record) { r.Provider = "old" }).healthy(true),
		"to External":    external().draining().having(wire.StateRunning).healthy(true),
		"while it waits": aProxy().draining().having(wire.StateRunning).healthy(true).with(edited).with(waited(time.Minute, false)),
	} {
		t.Run(name, func(t *testing.T) {
			got := Next(w.state, w.claim, now).Status
			ready := condition(got.Conditions, wire.ConditionReady)
			healthy := condition(got.Conditions, wire.ConditionHealthy)
			want := []string{"Draining", "127.64.0.1", "False", "Draining", "True"}
			if diff := cmp.Diff(want, []string{got.Phase, got.Host, ready.Status, ready.Reason, healthy.Status}); diff != "" {
				t.Errorf("phase, host, ready, its reason, healthy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATerminatedWorkflowGoesOnDraining(t *testing.T) {
	w := aProxy().draining().having(wire.StateRunning).healthy(true).with(edited).published()
	claim := w.claim
	claim.Stored = w.state.Stored
	var s State
	s.merge(claim, now.Add(2*time.Minute))
	if want := (&DrainWait{Incarnation: 1, Since: now, Until: now.Add(5 * time.Minute)}); !cmp.Equal(want, s.Drain) {
		t.Errorf("drain = %+v, want %+v", s.Drain, want)
	}
}

// lostAt notes that an instance was lost so many minutes ago.
func lostAt(minutes ...int) func(*State, *wire.Claim) {
	return func(s *State, _ *wire.Claim) {
		for _, m := range minutes {
			s.lost(now.Add(-time.Duration(m) * time.Minute))
		}
	}
}

func TestCreationBudget(t *testing.T) {
	t.Run("five recreations an hour are made", func(t *testing.T) {
		w := aProxy().with(lostAt(40, 30, 20, 10, 0))
		if got := Next(w.state, w.claim, now); got.Kind != Enter {
			t.Errorf("step = %+v, want a new entry", got)
		}
	})
	t.Run("the sixth waits until the first is an hour old", func(t *testing.T) {
		w := aProxy().with(lostAt(50, 40, 30, 20, 10, 0))
		told := Next(w.state, w.claim, now)
		c := condition(told.Status.Conditions, wire.ConditionProvisioned)
		if told.Kind != Publish || told.Status.Phase != wire.PhaseWaiting || c.Reason != wire.ReasonBudget {
			t.Fatalf("step = %+v, want Waiting/CreationBudget", told)
		}
		w.published()
		if got := Next(w.state, w.claim, now); got.Kind != Rest || !got.Until.Equal(now.Add(10*time.Minute)) {
			t.Errorf("step = %+v, want to rest for ten minutes", got)
		}
		if got := Next(w.state, w.claim, now.Add(10*time.Minute)); got.Kind != Enter {
			t.Errorf("step = %+v after the rest, want a new entry", got)
		}
	})
	t.Run("the count is in the status, for a workflow that takes over", func(t *testing.T) {
		w := aProxy().with(lostAt(50, 40, 30, 20, 10, 0)).published()
		claim := w.claim
		claim.Stored = w.state.Stored
		var s State
		s.merge(claim, now)
		if got := Next(s, claim, now); got.Kind != Rest {
			t.Errorf("step = %+v, want to rest", got)
		}
	})
	t.Run("an edit or a new value of the annotation goes on at once", func(t *testing.T) {
		w := aProxy().with(lostAt(50, 40, 30, 20, 10, 0)).published()
		claim := w.claim
		claim.Stored, claim.Inputs = w.state.Stored, "in2"
		w.state.merge(claim, now)
		if got := Next(w.state, claim, now); got.Kind != Enter {
			t.Errorf("step = %+v, want a new entry", got)
		}
	})
	t.Run("only an instance that stopped or vanished counts", func(t *testing.T) {
		for state, counts := range map[string]bool{
			wire.StateStopped: true, wire.StateGone: true, wire.StateRunning: false, wire.StateProvisioning: false, "": false,
		} {
			s := aProxy().having(state).state
			s.drop(s.Ledger[0].Entry, now)
			if counted := len(s.Recreations) == 1; counted != counts || len(s.Ledger) != 0 {
				t.Errorf("state %q: counted %v, ledger %v", state, counted, s.Ledger)
			}
		}
	})
}

func TestAdoption(t *testing.T) {
	w := aProxy().having(wire.StateRunning, func(r *Record) { r.Hash = "" }).healthy(true)
	step := Next(w.state, w.claim, now)
	if step.Kind != Enter || step.Entry.Hash != "v1:aa" || step.Entry.AttemptUntil.IsZero() {
		t.Fatalf("step = %+v, want an entry with the hash and room for a Create", step)
	}
	w.state.enter(step.Entry, w.claim)
	if told := Next(w.state, w.claim, now); told.Kind != Publish || told.Status.Phase != wire.PhaseReady || told.Status.Host == "" {
		t.Errorf("step = %+v, want the proxy to stay Ready while it is adopted", told)
	}
	if got := Next(w.published().state, w.claim, now); got.Kind != Create {
		t.Errorf("step = %+v, want the Create that makes it ours", got)
	}
	r := &w.state.Ledger[0]
	r.Fresh = false
	r.see(wire.Instance{State: wire.StateRunning, Hash: "v0:zz", ProviderID: "id", Host: "127.64.0.1", Port: 3128})
	if r.Hash != "v1:aa" {
		t.Errorf("hash = %s after a look, want what was adopted", r.Hash)
	}
}
