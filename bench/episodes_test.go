package bench

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	temporalclient "go.temporal.io/sdk/client"

	"example.com/fairlead/temporal/wire"
)

// mark is how far the history of a workflow had come.
type mark struct {
	run    string
	events int64
}

// describe asks for the newest run of a workflow.
func describe(ctx context.Context, c temporalclient.Client, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	d, err := c.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return nil, fmt.Errorf("describe workflow %s: %w", id, err)
	}
	return d.RawResponse, nil
}

// markOf looks how far the history of a workflow has come.
func markOf(ctx context.Context, c temporalclient.Client, id string) (mark, error) {
	d, err := describe(ctx, c, id)
	if err != nil {
		return mark{}, err
	}
	info := d.GetWorkflowExecutionInfo()
	return mark{run: info.GetExecution().GetRunId(), events: info.GetHistoryLength()}, nil
}

// since returns the events that a workflow has had since m, in all runs that followed.
func since(ctx context.Context, c temporalclient.Client, id string, m mark) ([]*historypb.HistoryEvent, error) {
	var news []*historypb.HistoryEvent
	for run := m.run; run != ""; {
		events, err := history(ctx, c, id, run)
		if err != nil {
			return nil, err
		}
		next := ""
		if last := events[len(events)-1]; last.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
			next = last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
		if run == m.run {
			events = events[min(int(m.events), len(events)):]
		}
		news, run = append(news, events...), next
	}
	return news, nil
}

// history returns all events of a run.
func history(ctx context.Context, c temporalclient.Client, id, run string) ([]*historypb.HistoryEvent, error) {
	var events []*historypb.HistoryEvent
	for i := c.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); i.HasNext(); {
		e, err := i.Next()
		if err != nil {
			return nil, fmt.Errorf("read the history of workflow %s: %w", id, err)
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("workflow %s, run %s has no history", id, run)
	}
	return events, nil
}

// parkedEvents are those of a run that has done nothing but begin to wait: its start
// and one workflow task. Before that task a continued run may rest for a second.
const parkedEvents = 4

// parks says whether the workflow of a Proxy waits.
func (w *world) parks(ref wire.ProxyRef) bool {
	w.tb.Helper()
	d, err := describe(w.ctx, w.temporal, wire.ProxyID(ref))
	w.must("look at a workflow", err)
	return d.GetWorkflowExecutionInfo().GetHistoryLength() >= parkedEvents && d.GetPendingWorkflowTask() == nil && len(d.GetPendingActivities()) == 0
}

// beginning is before the first event of a workflow.
func beginning(ctx context.Context, c temporalclient.Client, id string) (mark, error) {
	d, err := describe(ctx, c, id)
	if err != nil {
		return mark{}, err
	}
	return mark{run: d.GetWorkflowExecutionInfo().GetFirstRunId()}, nil
}

// ended says whether the workflow of a Proxy has come to its end.
func (w *world) ended(ref wire.ProxyRef) bool {
	w.tb.Helper()
	d, err := describe(w.ctx, w.temporal, wire.ProxyID(ref))
	w.must("look at a workflow", err)
	return d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

// countWorkflows counts those that a query finds.
func (w *world) countWorkflows(query string) int64 {
	w.tb.Helper()
	found, err := w.temporal.CountWorkflow(w.ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
	w.must("count workflows", err)
	return found.GetCount()
}
