package proxy

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

// TestStatus states whole statuses.
func TestStatus(t *testing.T) {
	t.Run("a healthy proxy", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true)
		got := Next(w.state, w.claim, now).Status
		want := wire.ProxyStatus{
			Sequence: 1, Phase: "Ready", ObservedGeneration: 1, ObservedInputs: "in1", ProviderID: "id",
			Ledger: []wire.Entry{{Provider: "p", Name: "proxy-x", Incarnation: 1, Hash: "v1:aa"}},
			Host:   "127.64.0.1", Port: 3128, SpecHash: "v1:aa", LatencyMillis: 7, ProbedAt: now,
			Conditions: []wire.Condition{
				{Type: "Provisioned", Status: "True", Reason: "Created", Since: now},
				{Type: "Healthy", Status: "True", Reason: "Healthy", Since: now},
				{Type: "Ready", Status: "True", Reason: "Ready", Since: now},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
	t.Run("a condition keeps its time while its state does not change", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).published()
		w.state.Health.Verdict, w.state.Health.LatencyMillis = "slow", 900
		got := Next(w.state, w.claim, now.Add(time.Hour)).Status
		c := condition(got.Conditions, wire.ConditionHealthy)
		if c.Reason != "Slow" || !c.Since.Equal(now) {
			t.Errorf("condition = %+v, want reason Slow since %s", c, now)
		}
	})
	t.Run("a proxy whose provider left the file keeps its address", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).published()
		w.claim.Places, w.claim.Hash, w.claim.Problem = nil, "", &wire.Problem{Reason: wire.ReasonUnavailable}
		got := Next(w.state, w.claim, now).Status
		if got.Host != "127.64.0.1" || condition(got.Conditions, wire.ConditionReady).Status != wire.True {
			t.Errorf("status = %+v", got)
		}
	})
	t.Run("a message that the API server would refuse is made to fit", func(t *testing.T) {
		w := aProxy().having(wire.StateProvisioning)
		w.state.Trouble = &Trouble{Type: wire.FailureTransient, Message: strings.Repeat("é", 40_000) + "\xff"}
		got := condition(Next(w.state, w.claim, now).Status.Conditions, wire.ConditionProvisioned).Message
		if len(got) > 1024 || !utf8.ValidString(got) {
			t.Errorf("message has %d bytes, valid UTF-8 %v", len(got), utf8.ValidString(got))
		}
	})
	t.Run("the credentials are those that the instance was made with", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).with(func(_ *State, c *wire.Claim) { c.CredentialsVersion = "7" }).published()
		w.claim.CredentialsVersion, w.claim.Hash, w.claim.Inputs = "8", "v1:bb", "in2"
		w.claim.Paused = true
		if got := Next(w.state, w.claim, now).Status; got.CredentialsVersion != "7" {
			t.Errorf("a paused proxy whose Secret was rotated tells version %q, want 7", got.CredentialsVersion)
		}
		w.claim.Hash = "v1:aa" // an edit of the Secret that changes nothing
		if got := Next(w.state, w.claim, now).Status; got.CredentialsVersion != "8" {
			t.Errorf("after an edit without a change it tells version %q, want 8", got.CredentialsVersion)
		}
	})
	t.Run("what waits for something says for what, whatever its health", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(false).with(func(_ *State, c *wire.Claim) { c.ClusterID = "c2" })
		got := condition(Next(w.state, w.claim, now).Status.Conditions, wire.ConditionReady)
		if got.Status != wire.False || got.Reason != wire.ReasonWrongCluster {
			t.Errorf("Ready = %+v", got)
		}
	})
	t.Run("what was found out about an instance that goes is not told of the proxy", func(t *testing.T) {
		w := aProxy().having(wire.StateStopped).healthy(true)
		w.state.Health.ExitIP = "127.64.0.1"
		got := Next(w.state, w.claim, now).Status
		if c := condition(got.Conditions, wire.ConditionHealthy); got.ExitIP != "" || got.LatencyMillis != 0 || c.Status != wire.Unknown {
			t.Errorf("status = %+v", got)
		}
	})
	t.Run("a proxy that is being replaced has no address", func(t *testing.T) {
		w := aProxy().having(wire.StateRunning).healthy(true).published()
		w.claim.Hash = "v1:cc"
		w.state.Ledger[0].Deleting = true
		got := Next(w.state, w.claim, now).Status
		if got.Host != "" || condition(got.Conditions, wire.ConditionReady).Status != wire.False {
			t.Errorf("status = %+v", got)
		}
	})
}
