package worker

import (
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/events"
	"example.com/fairlead/temporal/wire"
	workflows "example.com/fairlead/workflows/addon"
	"example.com/fairlead/workflows/sweep"
)

// addonsAtATime is how many activities of add-ons may be under way: each dry-runs or writes
// whole sets of objects, so that a thousand add-ons at once would be too much for an API
// server.
const addonsAtATime = 16

// AddonOptions are what add-ons are kept with.
type AddonOptions struct {
	// Activities on Addons; Events is the worker's own.
	Activities addon.Activities
	Sweep      *addon.Sweep
}

// addonWorkers are those of all that is about add-ons: one that does, and one that waits.
func addonWorkers(o Options, recorder *events.Recorder) map[string]sdkworker.Worker {
	acts := o.Addons.Activities
	acts.Events = recorder
	options := workerOptions(o, wire.QueueAddons)
	options.MaxConcurrentActivityExecutionSize = addonsAtATime
	w := sdkworker.New(o.Temporal, wire.QueueAddons, options)
	w.RegisterWorkflowWithOptions(workflows.Workflow, workflow.RegisterOptions{Name: wire.WorkflowAddon})
	w.RegisterWorkflowWithOptions(sweep.Addons, workflow.RegisterOptions{Name: wire.WorkflowAddonSweep})
	register(w, wire.ActivityAddonClaim, acts.Claim)
	register(w, wire.ActivityAddonPreview, acts.Preview)
	register(w, wire.ActivityAddonPublish, acts.Publish)
	register(w, wire.ActivityAddonApply, acts.Apply)
	register(w, wire.ActivityAddonSettle, acts.AwaitHealth)
	register(w, wire.ActivityAddonRelease, acts.Release)
	register(w, wire.ActivityAddonAsk, acts.AskForSync)
	register(w, wire.ActivitySweepAddons, o.Addons.Sweep.SweepAddons)

	waits := newWorker(o, wire.WaitsOf(wire.QueueAddons))
	register(waits, wire.ActivityAddonHook, acts.RunHook)
	register(waits, wire.ActivityAddonTidy, acts.TidyHooks)
	register(waits, wire.ActivityAddonRemove, acts.RemoveObjects)
	return map[string]sdkworker.Worker{wire.QueueAddons: w, wire.WaitsOf(wire.QueueAddons): waits}
}
