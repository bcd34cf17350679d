package starter

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"example.com/fairlead/temporal/wire"
)

// runningPage bounds one answer of Temporal.
const runningPage = 1000

// Running says whether the workflow of ref is open. It asks the workflow itself:
// the list of workflows may be behind.
func (s *Signaller) Running(ctx context.Context, ref wire.ProxyRef) (bool, error) {
	return s.running(ctx, ofProxy(ref))
}

// AddonRunning says the same of the workflow of an Addon.
func (s *Signaller) AddonRunning(ctx context.Context, ref wire.AddonRef) (bool, error) {
	return s.running(ctx, ofAddon(ref))
}

// ListRunning has the ids of the Proxy workflows that run. The list may be behind
// by seconds.
func (s *Signaller) ListRunning(ctx context.Context) (map[string]bool, error) {
	return s.listRunning(ctx, wire.WorkflowProxy)
}

// ListAddonsRunning has the ids of the Addon workflows that run, likewise.
func (s *Signaller) ListAddonsRunning(ctx context.Context) (map[string]bool, error) {
	return s.listRunning(ctx, wire.WorkflowAddon)
}

func (s *Signaller) running(ctx context.Context, k subject) (bool, error) {
	run, err := s.Temporal.DescribeWorkflow(ctx, k.id, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the workflow of %s: %w", k.title, err)
	}
	switch run.Status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED,
		enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return false, nil
	}
	return true, nil // paused too, and whatever a later server may add
}

func (s *Signaller) listRunning(ctx context.Context, workflow string) (map[string]bool, error) {
	running := map[string]bool{}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: runningPage,
		Query:    fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", workflow),
	}
	for {
		page, err := s.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the workflows of type %s: %w", workflow, err)
		}
		for _, e := range page.Executions {
			running[e.Execution.GetWorkflowId()] = true
		}
		if request.NextPageToken = page.NextPageToken; len(request.NextPageToken) == 0 {
			return running, nil
		}
	}
}
