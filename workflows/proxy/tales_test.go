package proxy

import (
	"time"

	"go.temporal.io/sdk/client"

	"example.com/fairlead/temporal/wire"
)

// tales have each state of a proxy, and each way in which a step can end.
var tales = map[string]func(p *player){
	"created-and-deleted": func(p *player) {
		p.start(nil)
		p.healthy()
		p.change(func(o *outside) { o.claim.Deleting, o.claim.Inputs = true, "in2" })
		p.Ended()
	},
	"drained-by-the-last-lease": func(p *player) {
		p.claim.DrainTimeout = time.Hour
		refuse(map[string]error{wire.ActivityDrained: failure(wire.FailureNotYet, false)})(p.outside)
		p.start(nil)
		p.healthy()
		p.change(func(o *outside) { o.claim.Hash, o.claim.Inputs = "v1:bb", "in2" })
		p.told(wire.PhaseDraining, wire.ReasonDraining)
		p.mu.Lock()
		p.fail = nil
		p.mu.Unlock()
		p.Signal(wire.SignalLease, nil)
		p.healthy()
	},
	"drained-by-the-timeout": func(p *player) {
		p.claim.DrainTimeout = 2 * time.Second
		refuse(map[string]error{wire.ActivityDrained: failure(wire.FailureNotYet, false)})(p.outside)
		p.start(nil)
		p.healthy()
		p.change(func(o *outside) { o.claim.Replace, o.claim.Inputs = "now", "in2" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"an-edit-taken-back": func(p *player) {
		p.claim.DrainTimeout = time.Hour
		refuse(map[string]error{wire.ActivityDrained: failure(wire.FailureNotYet, false)})(p.outside)
		p.start(nil)
		p.healthy()
		p.change(func(o *outside) { o.claim.Hash, o.claim.Inputs = "v1:bb", "in2" })
		p.told(wire.PhaseDraining, wire.ReasonDraining)
		p.change(func(o *outside) { o.claim.Hash, o.claim.Inputs = "v1:aa", "in3" })
		p.told(wire.PhaseReady, wire.ReasonCreated)
	},
	"replaced-by-update": func(p *player) {
		p.start(nil)
		p.healthy()
		handle, err := p.Client.UpdateWorkflow(p.T.Context(), client.UpdateWorkflowOptions{
			WorkflowID: p.Name, UpdateName: wire.UpdateReplace, Args: []any{"by update"}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			p.T.Fatal(err)
		}
		var value string
		if err := handle.Get(p.T.Context(), &value); err != nil || value != "by update" {
			p.T.Fatalf("the update returned %q, %v", value, err)
		}
		p.Signal(wire.SignalChanged, nil)
		p.until("the replacement", func(o *outside) bool { return o.claim.Stored.ObservedReplace == "by update" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"stopped-and-recreated": func(p *player) {
		p.start(nil)
		p.healthy()
		p.seen(wire.StateStopped)
		p.until("a recreation", func(o *outside) bool { return len(o.claim.Stored.Recreations) == 1 })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"halted-and-started": func(p *player) {
		p.start(nil)
		p.healthy()
		p.seen(wire.StateHalted)
		p.until("the start", func(o *outside) bool {
			if o.calls[len(o.calls)-1] == wire.ActivityCreate {
				o.instance.State = wire.StateRunning
			}
			return o.instance.State == wire.StateRunning
		})
		p.Signal(wire.SignalObserved, nil)
		p.told(wire.PhaseReady, wire.ReasonCreated)
	},
	"creation-budget": func(p *player) {
		state := aProxy().with(lostAt(0, 0, 0, 0, 0, 0)).state
		for i := range state.Recreations {
			state.Recreations[i] = time.Now().Truncate(time.Second)
		}
		state.Stored.ObservedInputs = "in1"
		p.claim.Stored = state.Stored
		p.start(&state)
		p.Signal(wire.SignalChanged, nil)
		p.told(wire.PhaseWaiting, wire.ReasonBudget)
		p.change(func(o *outside) { o.claim.Inputs = "in2" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"quota-waited-out": func(p *player) {
		refuse(map[string]error{wire.ActivityCreate: failure(wire.FailureQuota, false)})(p.outside)
		p.start(nil)
		p.told(wire.PhaseWaiting, wire.ReasonQuota)
		p.mu.Lock()
		p.fail = nil
		p.mu.Unlock()
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"quota-cut-by-deletion": func(p *player) {
		refuse(map[string]error{wire.ActivityCreate: failure(wire.FailureQuota, false)})(p.outside)
		p.start(nil)
		p.told(wire.PhaseWaiting, wire.ReasonQuota)
		p.change(func(o *outside) { o.claim.Deleting, o.claim.Inputs = true, "in2" })
		p.Ended()
	},
	"quota-cut-as-an-attempt-fails": func(p *player) {
		p.fail = func(activity string) error { // with the lock of the world
			if activity != wire.ActivityCreate {
				return nil
			}
			if p.claim.Stored.Phase == wire.PhaseWaiting && !p.claim.Deleting {
				p.claim.Deleting, p.claim.Inputs = true, "in2"
				p.cut()
			}
			return failure(wire.FailureQuota, false)
		}
		p.start(nil)
		p.Ended()
	},
	"refused-for-good-and-freed": func(p *player) {
		refuse(map[string]error{wire.ActivityCreate: failure(wire.FailurePermanent, true)})(p.outside)
		p.start(nil)
		p.told(wire.PhaseFailed, wire.ReasonPermanent)
		p.change(func(o *outside) { o.fail, o.claim.ProviderConfig = nil, "another" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"provider-gone-and-back": func(p *player) {
		p.claim.Problem = &wire.Problem{Reason: wire.ReasonUnavailable, Message: "unknown provider"}
		p.start(nil)
		p.told(wire.PhaseWaiting, wire.ReasonUnavailable)
		p.change(func(o *outside) { o.claim.Problem = nil })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"moved": func(p *player) {
		p.start(nil)
		p.healthy()
		p.change(func(o *outside) { o.claim.Places, o.claim.Inputs = []string{"z2"}, "in2" })
		p.until("the new place", func(o *outside) bool {
			return len(o.claim.Stored.Ledger) == 1 && o.claim.Stored.Ledger[0].Place == "z2" && o.claim.Stored.Host != ""
		})
	},
	"external": func(p *player) {
		provider := p.claim.Provider
		p.claim = external().claim
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonExternal)
		p.Signal(wire.SignalHealth, wire.Health{Healthy: true, Verdict: "healthy", ProbedAt: now})
		p.told(wire.PhaseReady, wire.ReasonExternal)
		p.change(func(o *outside) { // and becomes Managed
			stored := o.claim.Stored
			o.claim = aProxy().claim
			o.claim.Provider, o.claim.Stored, o.claim.Inputs = provider, stored, "in2"
		})
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"paused": func(p *player) {
		p.claim.Paused = true
		p.start(nil)
		p.told(wire.PhasePending, wire.ReasonPaused)
		p.change(func(o *outside) { o.claim.Paused, o.claim.Inputs = false, "in2" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"superseded": func(p *player) {
		p.fail = func(a string) error {
			if a != wire.ActivityPublish || p.claim.Stored.Sequence > 0 {
				return nil
			}
			p.claim.Stored.Sequence = 7 // somebody else wrote
			return failure(wire.FailureSuperseded, true)
		}
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"a-status-refused": func(p *player) {
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
		p.change(func(o *outside) {
			refuse(map[string]error{wire.ActivityPublish: failure(wire.FailurePermanent, true)})(o)
			o.claim.Deleting, o.claim.Inputs = true, "in2"
		})
		p.Ended()
	},
	"abandoned": func(p *player) {
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
		p.change(func(o *outside) {
			refuse(map[string]error{wire.ActivityDisown: failure(wire.FailurePermanent, true)})(o)
			o.claim.Deleting, o.claim.SkipCleanup, o.claim.Inputs = true, true, "in2"
		})
		p.Ended()
		p.until("the instance is named as left behind", func(o *outside) bool { return len(o.left) == 1 })
	},
	"stripped": func(p *player) {
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
		p.change(func(o *outside) { o.claim.Gone = true })
		p.Ended()
	},
	"wrong-cluster": func(p *player) {
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
		p.change(func(o *outside) { o.claim.ClusterID = "c2" })
		p.told(wire.PhaseWaiting, wire.ReasonWrongCluster)
	},
	"slow-to-come-and-to-go": func(p *player) {
		looks := 0
		p.instance = &wire.Instance{State: wire.StateProvisioning, Attempt: 1}
		p.fail = func(a string) error {
			if a != wire.ActivitySettle && a != wire.ActivityVanished {
				return nil
			}
			if looks++; looks%3 != 0 {
				return failure(wire.FailureNotYet, false)
			}
			if p.instance != nil {
				p.instance.State, p.instance.Host = wire.StateRunning, "127.64.0.1"
			}
			return nil
		}
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
		p.change(func(o *outside) { o.claim.Deleting, o.claim.Inputs = true, "in2" })
		p.Ended()
	},
	"adopted": func(p *player) {
		p.instance = &wire.Instance{State: wire.StateRunning, ProviderID: "id", Host: "127.64.0.1", Port: 3128, Attempt: 1}
		p.claim.Stored = wire.ProxyStatus{Phase: wire.PhaseReady, ProviderID: "hosts/h/domains/x", Host: "127.64.0.1", Ledger: []wire.Entry{
			{Provider: p.Name, Name: "proxy-x", Incarnation: 1},
		}}
		p.start(nil)
		p.until("the adoption", func(o *outside) bool { return o.claim.Stored.SpecHash == "v1:aa" })
	},
}
