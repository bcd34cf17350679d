package worker

import (
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/sweep"
	"example.com/fairlead/temporal/wire"
	workflows "example.com/fairlead/workflows/sweep"
)

// SweepOptions are what the sweeps work with beside the rest of the worker.
type SweepOptions struct {
	// Cache has the Proxies.
	Cache     client.Reader
	Workflows sweep.Workflows
	Orphans   sweep.Orphans
	Metrics   *sweep.Metrics
}

// registerSweeps makes main run the workflows of all sweeps, and look at objects.
func registerSweeps(main sdkworker.Worker, o Options) {
	if o.Sweeps == nil {
		return
	}
	main.RegisterWorkflowWithOptions(workflows.Provider, workflow.RegisterOptions{Name: wire.WorkflowSweep})
	main.RegisterWorkflowWithOptions(workflows.Objects, workflow.RegisterOptions{Name: wire.WorkflowObjectSweep})
	objects := &sweep.Objects{Cache: o.Sweeps.Cache, Live: o.Kubernetes, Workflows: o.Sweeps.Workflows, Providers: o.Providers, Shared: len(o.Sweeps.Orphans.Namespaces) > 0, Log: o.Log}
	register(main, wire.ActivitySweepObjects, objects.Sweep)
}

// registerSweep makes the worker of a provider look at it.
func registerSweep(w sdkworker.Worker, o Options, name string, p provider.Provider) {
	if o.Sweeps == nil {
		return
	}
	acts := &sweep.Provider{
		Name: name, Type: o.Providers.Type(name), Provider: p,
		Cache: o.Sweeps.Cache, Live: o.Kubernetes, Workflows: o.Sweeps.Workflows,
		Cluster: o.Cluster, Orphans: o.Sweeps.Orphans, Metrics: o.Sweeps.Metrics, Log: o.Log,
	}
	register(w, wire.ActivitySweep, acts.Sweep)
	register(w, wire.ActivityDeleteOrphan, acts.DeleteOrphan)
}

// forget drops what metrics say of a provider that is not served any more.
func (o *SweepOptions) forget(name string) {
	if o != nil {
		o.Metrics.Forget(name)
	}
}
