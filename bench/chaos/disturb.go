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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// disturb does to the workflow what a person may do in the Temporal UI. One that
// has ended already is left alone.
func (a *actor) disturb(ctx context.Context, st step) error {
	id := wire.ProxyID(a.ref)
	a.observer.disturb(a.ref.UID, st.do)
	return insist(ctx, string(st.do), func(ctx context.Context) error {
		desc, err := a.temporal.DescribeWorkflow(ctx, id, "")
		if err == nil {
			a.runs = append(a.runs, desc.WorkflowExecution.RunID)
			err = a.disturbRun(ctx, st, id, desc.WorkflowExecution.RunID)
		}
		var notFound *serviceerror.NotFound
		var wrong *serviceerror.InvalidArgument // the run ended meanwhile
		if errors.As(err, &notFound) || errors.As(err, &wrong) {
			return nil
		}
		return err
	})
}

// disturbRun resets a run, or ends the one that came of it meanwhile.
func (a *actor) disturbRun(ctx context.Context, st step, id, runID string) error {
	switch st.do {
	case actTerminate:
		return a.temporal.TerminateWorkflow(ctx, id, "", "chaos")
	case actCancel:
		return a.temporal.CancelWorkflow(ctx, id, "")
	default:
		return a.reset(ctx, id, runID, st.roll)
	}
}

// reset takes a run back to one of its workflow tasks.
func (a *actor) reset(ctx context.Context, id, runID string, roll uint64) error {
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
	_, err := a.temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:                 temporalNamespace,
		WorkflowExecution:         &commonpb.WorkflowExecution{WorkflowId: id, RunId: runID},
		Reason:                    "chaos",
		WorkflowTaskFinishEventId: tasks[roll%uint64(len(tasks))],
		RequestId:                 fmt.Sprintf("%s/%d", runID, roll),
	})
	return err
}

// watchEnds holds every workflow to not ending by itself while its object has our
// finalizer, until ctx ends.
func (r *run) watchEnds(ctx context.Context) {
	for linger(ctx, endsEvery) == nil {
		for _, s := range r.observer.all() {
			if err := r.checkEnd(ctx, s.ref); err != nil {
				break // a server is down; the next round looks again
			}
		}
	}
}

const endsEvery = 15 * time.Second

func (r *run) checkEnd(ctx context.Context, ref wire.ProxyRef) error {
	ended, how, err := r.endedByItself(ctx, ref)
	if err != nil || ended == "" {
		return err
	}
	var p crawl.Proxy
	err = r.live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, &p)
	if err != nil || string(p.UID) != ref.UID || !controllerutil.ContainsFinalizer(&p, crawl.Finalizer) {
		return client.IgnoreNotFound(err)
	}
	// A sweep or a reset may have come between.
	again, _, err := r.endedByItself(ctx, ref)
	if err == nil && again == ended {
		r.fail(&violation{stuck, ref.UID, "its workflow ended as " + how + " while the object has our finalizer"})
	}
	return err
}

// endedByItself is the run id of a workflow that ended, if nobody ended it.
func (r *run) endedByItself(ctx context.Context, ref wire.ProxyRef) (runID, how string, err error) {
	desc, err := r.temporal.DescribeWorkflow(ctx, wire.ProxyID(ref), "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) { // the starter has still to start it
		return "", "", nil
	}
	if err != nil || desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return "", "", err
	}
	// What is done is noted before it is done: only a note that is read after the look
	// knows of all that the look may have seen.
	s, _ := r.observer.find(ref.UID)
	if desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED && s.disturbed[actTerminate] ||
		desc.Status == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED && s.disturbed[actCancel] {
		return "", "", nil
	}
	return desc.WorkflowExecution.RunID, desc.Status.String(), nil
}
