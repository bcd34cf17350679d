package proxy

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// limit asks for another address after five bans; the api counts so many.
func (p *player) limit(bans int, hosts ...string) {
	p.claim.Bans = &wire.BanLimit{Count: 5, Window: 10 * time.Minute}
	p.bans, p.hosts = bans, hosts
}

// banTales are those of an address that targets refuse.
var banTales = map[string]func(p *player){
	"banned": func(p *player) {
		p.limit(4, "127.64.0.1", "127.64.0.2")
		p.claim.DrainTimeout = time.Hour
		refuse(map[string]error{wire.ActivityDrained: failure(wire.FailureNotYet, false)})(p.outside)
		p.start(nil)
		p.healthy()
		p.Signal(wire.SignalLease, nil)
		p.until("the api is asked", func(o *outside) bool { return count(o.calls, wire.ActivityBans) == 1 })
		p.mu.Lock()
		p.bans = 5
		p.mu.Unlock()
		p.Signal(wire.SignalLease, nil)
		p.told(wire.PhaseDraining, wire.ReasonBanned)
		p.mu.Lock()
		p.fail = nil
		p.mu.Unlock()
		p.Signal(wire.SignalLease, nil)
		p.until("the other address", func(o *outside) bool { return o.claim.Stored.Host == "127.64.0.2" })
		p.healthy()
	},
	"banned-and-given-the-same-address": func(p *player) {
		p.limit(5)
		p.start(nil)
		p.healthy()
		p.Signal(wire.SignalLease, nil)
		p.told(wire.PhaseProvisioning, wire.ReasonSameAddress)
		p.verdict(true)
		p.told(wire.PhaseReady, wire.ReasonSameAddress)
		p.Signal(wire.SignalLease, nil)
		p.change(func(o *outside) { o.hosts, o.claim.Replace, o.claim.Inputs = []string{"127.64.0.2"}, "by hand", "in2" })
		p.until("the other address", func(o *outside) bool { return o.claim.Stored.Host == "127.64.0.2" })
	},
	"banned-as-the-api-is-away": func(p *player) {
		p.limit(5, "127.64.0.1", "127.64.0.2")
		refuse(map[string]error{wire.ActivityBans: failure(wire.FailureNotYet, false)})(p.outside)
		p.start(nil)
		p.healthy()
		p.Signal(wire.SignalLease, nil)
		p.until("the api is asked", func(o *outside) bool { return count(o.calls, wire.ActivityBans) > 1 })
		p.verdict(false)
		p.told(wire.PhaseUnhealthy, wire.ReasonCreated)
		p.mu.Lock()
		p.fail = nil
		p.mu.Unlock()
		p.until("the other address", func(o *outside) bool { return o.claim.Stored.Host == "127.64.0.2" })
	},
	"banned-and-External": func(p *player) {
		p.claim = external().claim
		p.limit(5)
		p.start(nil)
		p.told(wire.PhaseProvisioning, wire.ReasonExternal)
		p.Signal(wire.SignalLease, nil)
		p.told(wire.PhaseProvisioning, wire.ReasonBanned)
		p.change(func(o *outside) {
			o.claim.Endpoint, o.claim.Inputs = &wire.Endpoint{Host: "10.0.0.10", Port: 8080}, "in2"
		})
		p.told(wire.PhaseProvisioning, wire.ReasonExternal)
	},
	"hints-for-nothing": func(p *player) {
		p.start(nil)
		p.healthy()
		for range 3 {
			p.Signal(wire.SignalLease, nil)
			p.Idle()
		}
		p.change(func(o *outside) { o.claim.Inputs = "in2" })
		p.until("the edit", func(o *outside) bool { return o.claim.Stored.ObservedInputs == "in2" })
	},
}
