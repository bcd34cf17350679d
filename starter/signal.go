package starter

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/workflows/addon"
	"example.com/fairlead/workflows/proxy"
)

// Signaller sends signals to workflows of Proxies and of Addons.
type Signaller struct {
	Temporal temporalclient.Client
}

// Changed wakes the workflow of ref, and starts it if it does not run.
func (s *Signaller) Changed(ctx context.Context, ref wire.ProxyRef) error {
	return s.wake(ctx, ofProxy(ref), wire.SignalChanged, nil)
}

// Observed tells the workflow of ref that its instance may differ from its status.
func (s *Signaller) Observed(ctx context.Context, ref wire.ProxyRef) error {
	return s.wake(ctx, ofProxy(ref), wire.SignalObserved, nil)
}

// Health tells the workflow of ref a verdict. One that does not run is started: an
// idle proxy whose workflow was terminated has no other event to start it.
func (s *Signaller) Health(ctx context.Context, ref wire.ProxyRef, h wire.Health) error {
	return s.wake(ctx, ofProxy(ref), wire.SignalHealth, h)
}

// Gone wakes the workflow of an object that vanished, if it still runs.
func (s *Signaller) Gone(ctx context.Context, ref wire.ProxyRef) error {
	return s.wakeRunning(ctx, ofProxy(ref), wire.SignalChanged)
}

// Lease wakes the workflow of ref, if it runs: its leases have changed.
func (s *Signaller) Lease(ctx context.Context, ref wire.ProxyRef) error {
	return s.wakeRunning(ctx, ofProxy(ref), wire.SignalLease)
}

// AddonChanged wakes the workflow of ref, and starts it if it does not run.
func (s *Signaller) AddonChanged(ctx context.Context, ref wire.AddonRef) error {
	return s.wake(ctx, ofAddon(ref), wire.SignalChanged, nil)
}

// AddonGone wakes the workflow of an Addon that vanished, if it still runs.
func (s *Signaller) AddonGone(ctx context.Context, ref wire.AddonRef) error {
	return s.wakeRunning(ctx, ofAddon(ref), wire.SignalChanged)
}

// subject is the workflow that keeps one object.
type subject struct {
	id, title, workflow, queue string
	attributes                 []temporal.SearchAttributeUpdate
	input                      any
}

func ofProxy(ref wire.ProxyRef) subject {
	return subject{
		id: wire.ProxyID(ref), title: "Proxy " + ref.String(), workflow: wire.WorkflowProxy, queue: wire.QueueMain,
		attributes: []temporal.SearchAttributeUpdate{
			wire.KeyKubeNamespace.ValueSet(ref.Namespace),
			wire.KeyKubeName.ValueSet(ref.Name),
			wire.KeyProxyPhase.ValueSet(wire.PhasePending),
		},
		input: proxy.Input{Proxy: ref, Version: proxy.Version},
	}
}

func ofAddon(ref wire.AddonRef) subject {
	return subject{
		id: wire.AddonID(ref), title: "Add-on " + ref.String(), workflow: wire.WorkflowAddon, queue: wire.QueueAddons,
		attributes: []temporal.SearchAttributeUpdate{
			wire.KeyKubeName.ValueSet(ref.Name),
			wire.KeyAddonPhase.ValueSet(string(addons.PhasePending)),
		},
		input: addon.Input{Addon: ref, Version: addon.Version},
	}
}

func (s *Signaller) wake(ctx context.Context, k subject, signal string, arg any) error {
	_, err := s.Temporal.SignalWithStartWorkflow(ctx, k.id, signal, arg, temporalclient.StartWorkflowOptions{
		TaskQueue:                k.queue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Memo:                     map[string]any{wire.MemoTitle: k.title},
		StaticSummary:            k.title,
		TypedSearchAttributes:    temporal.NewSearchAttributes(k.attributes...),
	}, k.workflow, k.input)
	if err != nil {
		return fmt.Errorf("signal %s to the workflow of %s: %w", signal, k.title, err)
	}
	return nil
}

func (s *Signaller) wakeRunning(ctx context.Context, k subject, signal string) error {
	err := s.Temporal.SignalWorkflow(ctx, k.id, "", signal, nil)
	var notFound *serviceerror.NotFound
	if err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("signal %s to the workflow of %s: %w", signal, k.title, err)
	}
	return nil
}
