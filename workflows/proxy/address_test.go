package proxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/temporal/wire"
)

// TestTheAddressStays while nothing says that the instance is gone: an address that goes
// away ends every lease.
func TestTheAddressStays(t *testing.T) {
	seen := func(state string) func(*State, *wire.Claim) {
		return func(s *State, _ *wire.Claim) {
			s.Ledger[0].Seen = wire.Instance{State: state, Message: "the node is silent"}
		}
	}
	problem := func(reason string) func(*State, *wire.Claim) {
		return func(_ *State, c *wire.Claim) {
			c.Places, c.Hash, c.Problem, c.Inputs = nil, "", &wire.Problem{Reason: reason, Message: "m"}, "in2"
		}
	}
	paused := func(_ *State, c *wire.Claim) { c.Paused = true }
	typo := func(_ *State, c *wire.Claim) { c.Provider = "typo" }
	hinted := func(s *State, _ *wire.Claim) { s.Look = true }
	toExternal := func(_ *State, c *wire.Claim) { *c = external().claim; c.Inputs = "in2" }
	ready := func() *world { return aProxy().having(wire.StateRunning).healthy(true).published() }
	ofOthers := func() *world {
		w := external().healthy(true)
		w.state.Health.Incarnation = 0
		return w.published()
	}
	const address, theirs = "127.64.0.1", "10.0.0.9"
	tests := []struct {
		name string
		in   *world
		// phase, host, Ready and its reason
		want []string
		then StepKind
	}{
		{"an instance that is not ready for a while", ready().with(seen(wire.StateProvisioning)), []string{"Ready", address, "True", "Provisioning"}, Settle},
		{"an instance that cannot be judged", ready().with(seen(wire.StateUnknown)), []string{"Ready", address, "True", "Provisioning"}, Settle},
		{"one whose probes fail too", ready().with(seen(wire.StateUnknown)).healthy(false), []string{"Unhealthy", address, "False", "Provisioning"}, Settle},
		{"not one that stopped", ready().with(seen(wire.StateStopped)), []string{"Replacing", "", "False", "Replacing"}, Delete},
		{"not one that comes up for the first time", aProxy().having(wire.StateProvisioning), []string{"Provisioning", "", "False", "Provisioning"}, Settle},
		{"of a provider that nobody knows", ready().with(problem(wire.ReasonUnavailable)).with(typo), []string{"Waiting", address, "True", "ProviderUnavailable"}, Park},
		{"without the Secret", ready().with(problem(wire.ReasonCloudInit)), []string{"Ready", address, "True", "CloudInitError"}, Park},
		{"without the Secret, when something hints at a change", ready().with(problem(wire.ReasonCredentials)).with(hinted), []string{"Ready", address, "True", "CredentialsError"}, Get},
		{"not without the Secret once it stopped", ready().with(problem(wire.ReasonCloudInit)).with(seen(wire.StateStopped)), []string{"Failed", "", "False", "CloudInitError"}, Park},
		{"not without the Secret once it is gone", ready().with(problem(wire.ReasonCloudInit)).with(seen(wire.StateGone)), []string{"Failed", "", "False", "CloudInitError"}, Park},
		{"paused, and the provider edited", ready().with(paused).with(moved), []string{"Ready", address, "True", "Paused"}, Park},
		{"paused, and the place moved", ready().with(paused).with(func(_ *State, c *wire.Claim) { c.Places = []string{"z2"} }), []string{"Ready", address, "True", "Paused"}, Park},
		{"paused, and made External", ready().with(toExternal).with(paused), []string{"Ready", address, "True", "Paused"}, Park},
		{"paused, and taken in from others", ofOthers().with(func(_ *State, c *wire.Claim) { *c = aProxy().claim }).with(paused), []string{"Ready", theirs, "True", "Paused"}, Park},
		{"paused, and the endpoint edited", ofOthers().with(func(_ *State, c *wire.Claim) { c.Endpoint = &wire.Endpoint{Host: "10.0.0.10", Port: 1} }).with(paused), []string{"Ready", theirs, "True", "Paused"}, Park},
		{"not of a paused proxy that is deleted", ready().with(paused).with(beingDeleted), []string{"Deleting", "", "False", "Deleting"}, Delete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.claimed()
			step := Next(tt.in.state, tt.in.claim, now)
			got := step.Status
			if step.Kind != Publish { // a look is not told
				got = describe(tt.in.state, tt.in.claim, decide(tt.in.state, tt.in.claim, now), now)
			}
			ready := condition(got.Conditions, wire.ConditionReady)
			if diff := cmp.Diff(tt.want, []string{got.Phase, got.Host, ready.Status, ready.Reason}); diff != "" {
				t.Errorf("phase, host, Ready and its reason (-want +got):\n%s", diff)
			}
			tt.in.state.Stored = got
			if then := Next(tt.in.state, tt.in.claim, now).Kind; then != tt.then {
				t.Errorf("then %s, want %s", then, tt.then)
			}
		})
	}
}
