package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"example.com/fairlead/temporal/wire"
)

// disturb does to the workflow what a person may do in the Temporal UI. One that
// has ended already is left alone.
func (a *actor) disturb(ctx context.Context, st step) error {
	id := wire.ProxyID(a.ref)
	a.observer.disturb(a.ref.UID, st.do)
	return insist(ctx, string(st.do), func(ctx context.Context) error {
		var err error
		switch st.do {
		case actTerminate:
			err = a.temporal.TerminateWorkflow(ctx, id, "", "chaos")
		case actCancel:
			err = a.temporal.CancelWorkflow(ctx, id, "")
		default:
			err = a.reset(ctx, id, st.roll)
		}
		var notFound *serviceerror.NotFound
		var wrong *serviceerror.InvalidArgument // the run ended meanwhile
		if errors.As(err, &notFound) || errors.As(err, &wrong) {
			return nil
		}
		return err
	})
}

// reset takes the current run back to one of its workflow tasks.
func (a *actor) reset(ctx context.Context, id string, roll uint64) error {
	desc, err := a.temporal.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return err
	}
	runID := desc.WorkflowExecution.RunID
	var tasks []int64
	events := a.temporal.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, e.GetEventId())
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	_, err = a.temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 temporalNamespace,
		WorkflowExecution:         &commonpb.WorkflowExecution{WorkflowId: id, RunId: runID},
		Reason:                    "chaos",
		WorkflowTaskFinishEventId: tasks[roll%uint64(len(tasks))],
		RequestId:                 fmt.Sprintf("%s/%d", runID, roll),
	})
	return err
}

// restartEvery is how often objects are looked for whose workflow was ended: what
// the sweep over objects does in an installation, a minute each. Every so many
// rounds all objects are looked at: no workflow may end by itself.
const (
	restartEvery = 3 * time.Second
	roundsToAll  = 8
)

// restart starts what was terminated or cancelled, until ctx ends.
func (r *run) restart(ctx context.Context) {
	for round := 0; linger(ctx, restartEvery) == nil; round++ {
		for _, s := range r.observer.all() {
			if len(s.disturbed) == 0 && round%roundsToAll != 0 {
				continue
			}
			if err := r.restartOne(ctx, s); err != nil {
				break // a server is down; the next round looks again
			}
		}
	}
}

func (r *run) restartOne(ctx context.Context, s subject) error {
	desc, err := r.temporal.DescribeWorkflow(ctx, wire.ProxyID(s.ref), "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) { // the starter has still to start it
		return nil
	}
	if err != nil || desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return err
	}
	// What is done is noted before it is done: only a note that is read after the look
	// knows of all that the look may have seen.
	done := r.observer.disturbances(s.ref.UID)
	terminated := desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED && done[actTerminate]
	cancelled := desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED && done[actCancel]
	if terminated || cancelled {
		r.observer.note(s.ref.UID, "sweep   its workflow was ended: wake it")
		return r.signaller.Changed(ctx, s.ref)
	}
	return r.endedByItself(ctx, s, desc.Status)
}

// endedByItself holds a workflow that ended to its object being released.
func (r *run) endedByItself(ctx context.Context, s subject, status enumspb.WorkflowExecutionStatus) error {
	kept, err := r.finalizerOn(ctx, s.ref)
	if err != nil || !kept {
		return err
	}
	// A reset may have come between the two looks.
	desc, err := r.temporal.DescribeWorkflow(ctx, wire.ProxyID(s.ref), "")
	if err == nil && desc.Status == status {
		r.fail(&violation{stuck, s.ref.UID, "its workflow ended as " + status.String() + " while the object has our finalizer"})
	}
	return err
}
