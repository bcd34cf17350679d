package addon

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"example.com/fairlead/temporal/wire"
)

// tales have each state of an add-on, and each way in which a step can end.
var tales = map[string]func(p *player){
	"synced-healed-released": func(p *player) {
		p.start()
		p.told(wire.AddonSynced)
		p.change(func(o *outside) { o.drifted = 2 })
		p.told(wire.AddonSynced)
		p.change(func(o *outside) { o.claim.Deleting = true })
		p.Ended()
	},
	"hooks": func(p *player) {
		p.hooks = jobs
		p.start()
		p.told(wire.AddonSynced)
		p.change(func(o *outside) { o.content = "v2" })
		p.told(wire.AddonSynced)
	},
	"hook-failed-and-mended": func(p *player) {
		p.hooks = jobs
		p.hook = func(in wire.AddonHookInput) wire.AddonHookResult {
			if in.Event == "post-install" && in.Number == 1 {
				return wire.AddonHookResult{Failed: "no", Output: "why"}
			}
			return wire.AddonHookResult{}
		}
		p.start()
		p.told(wire.AddonError)
		p.change(func(o *outside) { o.hook = nil })
		p.told(wire.AddonSynced)
	},
	"deletion-during-a-hook": func(p *player) {
		p.hooks = jobs
		waiting := make(chan struct{})
		p.slow = func(ctx context.Context, name string) {
			if name != wire.ActivityAddonHook+"/pre-install/1" {
				return
			}
			close(waiting)
			for ctx.Err() == nil { // a heartbeat hears of the cancellation
				activity.RecordHeartbeat(ctx)
				time.Sleep(50 * time.Millisecond)
			}
		}
		p.start()
		<-waiting
		p.change(func(o *outside) { o.claim.Deleting = true })
		p.Ended()
	},
	"reviewed-by-hash-update-and-signal": func(p *player) {
		p.claim.ManualSync = true
		p.start()
		p.told(wire.AddonOutOfSync)
		p.Idle() // who asks earlier may not have seen it
		handle, err := p.Client.UpdateWorkflow(p.T.Context(), client.UpdateWorkflowOptions{
			WorkflowID: p.Name, UpdateName: wire.UpdateSync, Args: []any{wire.SyncInput{Who: "ann"}}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			p.T.Fatal(err)
		}
		if err := handle.Get(p.T.Context(), nil); err != nil {
			p.T.Fatal(err)
		}
		p.Signal(wire.SignalChanged, nil)
		p.told(wire.AddonSynced)
		p.change(func(o *outside) { o.content = "v2" })
		p.told(wire.AddonOutOfSync)
		p.Idle()
		p.Signal(wire.SignalSync, wire.SyncInput{Who: "bob"})
		p.told(wire.AddonSynced)
	},
	"moved": func(p *player) {
		p.apply = func(wire.AddonApplyInput) *wire.AddonApplied {
			p.apply, p.live = nil, "v0"
			return &wire.AddonApplied{Moved: "ConfigMap a has other values"}
		}
		p.start()
		p.told(wire.AddonSynced)
	},
	"gates": func(p *player) {
		p.blocked = "it belongs to x"
		p.claim.Waits = "waits for c"
		p.start()
		p.told(wire.AddonPending)
		p.change(func(o *outside) { o.claim.Waits = "" })
		p.told(wire.AddonBlocked)
		p.change(func(o *outside) { o.blocked, o.adopts = "", "changes y" })
		p.told(wire.AddonBlocked)
		p.change(func(o *outside) { o.claim.Problem = "a circle" })
		p.told(wire.AddonError)
		p.change(func(o *outside) { o.claim.Problem, o.claim.Suspended = "", true })
		p.told(wire.AddonSuspended)
		p.change(func(o *outside) { o.claim.Suspended, o.adopts = false, "" })
		p.told(wire.AddonSynced)
	},
	"source-gone-and-back": func(p *player) {
		p.fail = failing(wire.ActivityAddonPreview, wire.FailurePermanent)
		p.start()
		p.told(wire.AddonError)
		p.change(func(o *outside) { o.fail = nil })
		p.told(wire.AddonSynced)
	},
	"unhealthy-and-healthy": func(p *player) {
		p.health, p.healsAfter = wire.AddonHealth{Status: "Progressing", Message: "0 of 1"}, 3
		p.start()
		p.told(wire.AddonSynced)
		p.sees("health", func(o *outside) bool { return o.claim.Stored.Health.Status == wire.Healthy })
	},
	"uninstalled": func(p *player) {
		p.start()
		p.told(wire.AddonSynced)
		p.change(func(o *outside) {
			o.claim.Deleting, o.claim.Uninstall = true, true
			o.claim.Hooks = []wire.AddonHook{{Event: "pre-delete", Kind: "Job", Name: "safe", Works: true}, {Event: "post-delete", Kind: "Job", Name: "bye", Works: true}}
		})
		p.Ended()
	},
	"uninstall-stopped-and-called-off": func(p *player) {
		p.start()
		p.told(wire.AddonSynced)
		p.hook = func(wire.AddonHookInput) wire.AddonHookResult { return wire.AddonHookResult{Failed: "in use"} }
		p.change(func(o *outside) {
			o.claim.Deleting, o.claim.Uninstall = true, true
			o.claim.Hooks = []wire.AddonHook{{Event: "pre-delete", Kind: "Job", Name: "safe", Works: true}}
		})
		p.told(wire.AddonError)
		p.change(func(o *outside) { o.claim.Uninstall = false })
		p.Ended()
	},
}
