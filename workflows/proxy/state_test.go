package proxy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

func TestMerge(t *testing.T) {
	entry := func(incarnation int64, until time.Time) wire.Entry {
		return wire.Entry{Provider: "p", Name: "proxy-x", Incarnation: incarnation, Hash: "v1:aa", AttemptUntil: until}
	}
	incarnations := func(s State) []int64 {
		var out []int64
		for _, r := range s.Ledger {
			out = append(out, r.Incarnation)
		}
		return out
	}
	t.Run("a terminated workflow takes ledger, sequence and verdict from the object", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).published()
		claim := w.claim
		claim.Stored = w.state.Stored
		var s State
		s.merge(claim, now)
		if s.Stored.Sequence != 1 || s.ClusterID != "c1" || s.Health == nil || !s.Health.Healthy {
			t.Errorf("state = %+v", s)
		}
		if got := Next(s, claim, now); got.Kind != Get {
			t.Errorf("step = %+v, want a look at the instance", got)
		}
	})
	t.Run("a status whose answer was not waited for is its own", func(t *testing.T) {
		w := aProxy()
		w.state.enter(Next(w.state, w.claim, now).Entry, w.claim)
		status := Next(w.state, w.claim, now).Status
		w.state.Sent = &status
		w.claim.Stored, w.claim.Deleting = status, true
		w.state.merge(w.claim, now)
		for w.state.Stored.Phase != wire.PhaseDeleting {
			w.state.Stored = Next(w.state, w.claim, now).Status
		}
		if got := Next(w.state, w.claim, now); got.Kind != Delete || !got.Entry.AttemptUntil.IsZero() {
			t.Errorf("step = %+v, want Delete without an attempt to wait for: none was sent", got)
		}
	})
	t.Run("the ledger is the union of both sides", func(t *testing.T) {
		s := State{Version: Version, ClusterID: "c1", Ledger: []Record{{Entry: entry(3, time.Time{})}}, Stored: wire.ProxyStatus{Sequence: 3}}
		elsewhere := entry(4, time.Time{})
		elsewhere.Place = "z2"
		s.merge(wire.Claim{ClusterID: "c1", Stored: wire.ProxyStatus{Sequence: 5, Ledger: []wire.Entry{elsewhere}}}, now)
		if diff := cmp.Diff([]int64{3, 4}, incarnations(s)); diff != "" {
			t.Errorf("incarnations (-want +got):\n%s", diff)
		}
		if s.Stored.Sequence != 5 {
			t.Errorf("sequence = %d, want the larger one", s.Stored.Sequence)
		}
	})
	t.Run("an attempt of a workflow that was terminated ends within one attempt from now", func(t *testing.T) {
		var s State
		s.merge(wire.Claim{ClusterID: "c1", Stored: wire.ProxyStatus{Sequence: 1, Ledger: []wire.Entry{entry(1, now.Add(24*time.Hour))}}}, now)
		if latest := now.Add(wire.CreateAttempt + wire.AttemptSlack + time.Second); s.Ledger[0].AttemptUntil.After(latest) {
			t.Errorf("attemptUntil = %s, want at most %s", s.Ledger[0].AttemptUntil, latest)
		}
	})
	t.Run("so does one of a run before it was reset, however often it is claimed", func(t *testing.T) {
		s := State{Version: Version, ClusterID: "c1", Stored: wire.ProxyStatus{Sequence: 1}}
		claim := wire.Claim{ClusterID: "c1", Stored: wire.ProxyStatus{Sequence: 2, Ledger: []wire.Entry{entry(2, now.Add(24*time.Hour))}}}
		latest := now.Add(wire.CreateAttempt + wire.AttemptSlack + time.Second)
		for at := now; at.Before(latest); at = at.Add(20 * time.Second) {
			s.merge(claim, at)
			if !s.Ledger[0].AttemptUntil.Equal(latest) {
				t.Errorf("claimed after %s: attemptUntil = %s, want %s", at.Sub(now), s.Ledger[0].AttemptUntil, latest)
			}
		}
	})
	t.Run("of one instance the newer incarnation counts, and attempts of both", func(t *testing.T) {
		soon, late := now.Add(time.Minute), now.Add(80*time.Second)
		for _, tt := range []struct{ ours, theirs wire.Entry }{{entry(3, late), entry(4, soon)}, {entry(4, soon), entry(3, late)}} {
			s := State{Version: Version, ClusterID: "c1", Ledger: []Record{{Entry: tt.ours}}, Stored: wire.ProxyStatus{Sequence: 3}}
			s.merge(wire.Claim{ClusterID: "c1", Stored: wire.ProxyStatus{Sequence: 5, Ledger: []wire.Entry{tt.theirs}}}, now)
			if len(s.Ledger) != 1 || s.Ledger[0].Incarnation != 4 || !s.Ledger[0].AttemptUntil.Equal(late) {
				t.Errorf("ledger = %+v, want incarnation 4 with an attempt until %s", s.Ledger, late)
			}
		}
	})
	t.Run("the first claim decides the cluster", func(t *testing.T) {
		s := State{Version: Version, ClusterID: "c1"}
		s.merge(wire.Claim{ClusterID: "c2", Stored: wire.ProxyStatus{Sequence: 9}}, now)
		if s.ClusterID != "c1" || s.Stored.Sequence != 0 {
			t.Errorf("state = %+v, want nothing of another cluster", s)
		}
	})
	t.Run("new inputs and new settings of the provider free a trouble", func(t *testing.T) {
		for _, tt := range []struct {
			inputs, config string
			freed          bool
		}{{"in1", "a", false}, {"in2", "a", true}, {"in1", "b", true}} {
			s := State{
				Version: Version, ClusterID: "c1",
				Trouble: &Trouble{Type: wire.FailurePermanent, Config: "a"}, Stored: wire.ProxyStatus{ObservedInputs: "in1"},
			}
			s.merge(wire.Claim{ClusterID: "c1", Inputs: tt.inputs, ProviderConfig: tt.config, Stored: s.Stored}, now)
			if freed := s.Trouble == nil; freed != tt.freed {
				t.Errorf("inputs %s, config %s: freed %v", tt.inputs, tt.config, freed)
			}
		}
	})
	t.Run("a terminated workflow leaves a permanent failure as it is", func(t *testing.T) {
		w := aProxy().having("", func(r *Record) { r.Fresh = true }).with(func(s *State, c *wire.Claim) {
			s.Trouble, c.ProviderConfig = &Trouble{Type: wire.FailurePermanent, Message: "m"}, "a"
		}).published()
		claim := w.claim
		claim.Stored = w.state.Stored
		var s State
		s.merge(claim, now)
		if got := Next(s, claim, now); got.Kind != Park {
			t.Errorf("step = %+v, want to park", got)
		}
		claim.ProviderConfig = "b"
		s.merge(claim, now)
		if got := Next(s, claim, now); got.Kind == Park {
			t.Errorf("step = %+v, want another try with another providers file", got)
		}
	})
}

func TestMergeOfWhatOthersWrote(t *testing.T) {
	t.Run("a failure whose own status was not confirmed keeps the settings that it was about", func(t *testing.T) {
		w := aProxy().having("", func(r *Record) { r.Fresh = true }).with(func(s *State, _ *wire.Claim) {
			s.Trouble = &Trouble{Type: wire.FailurePermanent, Message: "m", Config: "a"}
		})
		claim := w.claim
		claim.Stored, claim.ProviderConfig = Next(w.state, w.claim, now).Status, "b"
		w.state.merge(claim, now)
		if w.state.Trouble != nil {
			t.Errorf("trouble = %+v under other settings", w.state.Trouble)
		}
	})
	t.Run("a restored, older status is taken over with the larger sequence", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).published()
		w.state.Stored.Sequence = 9
		claim := w.claim
		claim.Stored = wire.ProxyStatus{Sequence: 4, Phase: wire.PhaseProvisioning, Ledger: []wire.Entry{{Provider: "p", Name: "proxy-x", Incarnation: 0}}}
		w.state.merge(claim, now)
		// The provider knows one instance by that name, the one that runs.
		if len(w.state.Ledger) != 1 || w.state.Ledger[0].Incarnation != 1 || w.state.Ledger[0].Seen.State != wire.StateRunning {
			t.Errorf("ledger = %+v, want the newer instance alone", w.state.Ledger)
		}
		if got := Next(w.state, claim, now); got.Kind != Publish || got.Status.Sequence != 10 {
			t.Errorf("step = %+v, want to publish sequence 10", got)
		}
	})
	t.Run("a verdict that comes before the first status counts", func(t *testing.T) {
		w := external()
		w.state.Health = &wire.Health{Healthy: true, Verdict: "healthy", ProbedAt: now}
		w.state.merge(w.claim, now)
		if got := Next(w.state, w.claim, now); got.Kind != Publish || got.Status.Phase != wire.PhaseReady {
			t.Errorf("step = %+v, want to publish Ready", got)
		}
	})
	t.Run("another endpoint has no verdict yet", func(t *testing.T) {
		w := external().published()
		w.state.Health = &wire.Health{Healthy: true, Verdict: "healthy", ProbedAt: now}
		w.published()
		claim := w.claim
		claim.Stored, claim.Endpoint = w.state.Stored, &wire.Endpoint{Host: "10.0.0.10", Port: 8080}
		w.state.merge(claim, now)
		if w.state.Health != nil {
			t.Errorf("health = %+v", w.state.Health)
		}
	})
}

func TestHeed(t *testing.T) {
	base := func() State {
		w := aProxy().having(wire.StateRunning).healthy(true)
		return w.state
	}
	tests := []struct {
		name        string
		h           wire.Health
		want        bool // the verdict is taken in
		wantToCheck bool
	}{
		{"a verdict on the newest instance counts", wire.Health{Incarnation: 1, Healthy: true}, true, false},
		{"a bad verdict asks for a look", wire.Health{Incarnation: 1}, true, true},
		{"a verdict on another incarnation is old news", wire.Health{Incarnation: 2}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := base()
			before := *s.Health
			s.heed(tt.h)
			if taken := *s.Health != before; taken != tt.want || s.Look != tt.wantToCheck {
				t.Errorf("taken %v, look %v; want %v, %v", taken, s.Look, tt.want, tt.wantToCheck)
			}
		})
	}
}
