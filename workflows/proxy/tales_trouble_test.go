package proxy

import (
	"example.com/fairlead/temporal/wire"
)

// troubles are tales of what goes wrong while the instance lives, and of what keeps it
// from being made.
var troubles = map[string]func(p *player){
	"unhealthy-and-back": func(p *player) {
		p.start(nil)
		p.healthy()
		p.verdict(false)
		p.told(wire.PhaseUnhealthy, wire.ReasonCreated)
		p.verdict(true)
		p.told(wire.PhaseReady, wire.ReasonCreated)
	},
	"silent-for-a-while": func(p *player) {
		p.start(nil)
		p.healthy()
		p.seen(wire.StateUnknown)
		p.told(wire.PhaseReady, wire.ReasonProvisioning)
		p.verdict(false)
		p.told(wire.PhaseUnhealthy, wire.ReasonProvisioning)
		p.seen(wire.StateRunning)
		p.told(wire.PhaseUnhealthy, wire.ReasonCreated)
	},
	"not-found-though-it-is-there": func(p *player) {
		p.start(nil)
		p.healthy()
		p.mu.Lock()
		there := p.instance
		p.instance = nil
		p.mu.Unlock()
		p.fail = func(activity string) error { // with the lock of the world
			if activity == wire.ActivityVanished {
				p.instance = there
			}
			return nil
		}
		p.Signal(wire.SignalObserved, nil)
		p.told(wire.PhaseReplacing, wire.ReasonReplacing)
		p.told(wire.PhaseReady, wire.ReasonCreated)
	},
	"without-its-secret": func(p *player) {
		p.claim.Problem = &wire.Problem{Reason: wire.ReasonCloudInit, Message: "no Secret x"}
		p.start(nil)
		p.told(wire.PhaseFailed, wire.ReasonCloudInit)
		p.change(func(o *outside) { o.claim.Problem, o.claim.Inputs = nil, "in2" })
		p.healthy()
		p.change(func(o *outside) {
			o.claim.Problem, o.claim.Inputs = &wire.Problem{Reason: wire.ReasonCredentials, Message: "no Secret y"}, "in3"
		})
		p.told(wire.PhaseReady, wire.ReasonCredentials)
		p.seen(wire.StateStopped)
		p.told(wire.PhaseFailed, wire.ReasonCredentials)
		p.change(func(o *outside) { o.claim.Problem, o.claim.Inputs = nil, "in4" })
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"failing-for-a-while": func(p *player) {
		refuse(map[string]error{wire.ActivityCreate: failure(wire.FailureTransient, false)})(p.outside)
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonTransient)
		p.mu.Lock()
		p.fail = nil
		p.mu.Unlock()
		p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	},
	"of-an-unknown-provider-for-a-while": func(p *player) {
		p.start(nil)
		p.healthy()
		provider := p.claim.Provider
		p.change(func(o *outside) {
			o.claim.Provider, o.claim.Problem, o.claim.Inputs = "typo", &wire.Problem{Reason: wire.ReasonUnavailable, Message: "unknown provider typo"}, "in2"
		})
		p.told(wire.PhaseWaiting, wire.ReasonUnavailable)
		p.change(func(o *outside) { o.claim.Provider, o.claim.Problem, o.claim.Inputs = provider, nil, "in3" })
		p.told(wire.PhaseReady, wire.ReasonCreated)
	},
}
