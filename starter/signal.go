package starter

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/workflows/proxy"
)

// Signaller sends signals to workflows of Proxies.
type Signaller struct {
	Temporal temporalclient.Client
}

// Changed wakes the workflow of ref, and starts it if it does not run.
func (s *Signaller) Changed(ctx context.Context, ref wire.ProxyRef) error {
	return s.wake(ctx, ref, wire.SignalChanged, nil)
}

// Observed tells the workflow of ref that its instance may differ from its status.
func (s *Signaller) Observed(ctx context.Context, ref wire.ProxyRef) error {
	return s.wake(ctx, ref, wire.SignalObserved, nil)
}

// Health tells the workflow of ref a verdict. One that does not run is started: an
// idle proxy whose workflow was terminated has no other event to start it.
func (s *Signaller) Health(ctx context.Context, ref wire.ProxyRef, h wire.Health) error {
	return s.wake(ctx, ref, wire.SignalHealth, h)
}

func (s *Signaller) wake(ctx context.Context, ref wire.ProxyRef, signal string, arg any) error {
	title := "Proxy " + ref.String()
	_, err := s.Temporal.SignalWithStartWorkflow(ctx, wire.ProxyID(ref), signal, arg, temporalclient.StartWorkflowOptions{
		TaskQueue:                wire.QueueMain,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Memo:                     map[string]any{wire.MemoTitle: title},
		StaticSummary:            title,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			wire.KeyKubeNamespace.ValueSet(ref.Namespace),
			wire.KeyKubeName.ValueSet(ref.Name),
			wire.KeyProxyPhase.ValueSet(wire.PhasePending),
		),
	}, wire.WorkflowProxy, proxy.Input{Proxy: ref, Version: proxy.Version})
	if err != nil {
		return fmt.Errorf("signal %s to the workflow of Proxy %s: %w", signal, ref, err)
	}
	return nil
}

// Gone wakes the workflow of an object that vanished, if it still runs.
func (s *Signaller) Gone(ctx context.Context, ref wire.ProxyRef) error {
	return s.wakeRunning(ctx, ref, wire.SignalChanged)
}

// Lease wakes the workflow of ref, if it runs: its leases have changed.
func (s *Signaller) Lease(ctx context.Context, ref wire.ProxyRef) error {
	return s.wakeRunning(ctx, ref, wire.SignalLease)
}

func (s *Signaller) wakeRunning(ctx context.Context, ref wire.ProxyRef, signal string) error {
	err := s.Temporal.SignalWorkflow(ctx, wire.ProxyID(ref), "", signal, nil)
	var notFound *serviceerror.NotFound
	if err != nil && !errors.As(err, &notFound) {
		return fmt.Errorf("signal %s to the workflow of Proxy %s: %w", signal, ref, err)
	}
	return nil
}
