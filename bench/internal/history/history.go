// Package history reads what workflows have left in Temporal, and holds it to what must
// never be there.
package history

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// maxEvent is how large an event of a history may be, in bytes.
const maxEvent = 64 << 10

// Runs lists the runs of a workflow. The list may be behind: it must have the
// newest one, and all that any of them tells of.
func Runs(ctx context.Context, c client.Client, namespace, id string) (map[string]bool, error) {
	desc, err := c.DescribeWorkflow(ctx, id, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) { // the object was gone before the starter saw it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs := map[string]bool{}
	req := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, Query: "WorkflowId = '" + id + "'", PageSize: 1000}
	for {
		list, err := c.ListWorkflow(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, e := range list.GetExecutions() {
			runs[e.GetExecution().GetRunId()] = true
		}
		if req.NextPageToken = list.GetNextPageToken(); len(req.NextPageToken) == 0 {
			break
		}
	}
	if newest := desc.WorkflowExecution.RunID; !runs[newest] {
		return nil, fmt.Errorf("the list of runs is behind: it lacks the newest, %s", newest)
	}
	return runs, nil
}

// Links are the runs before and after that an event tells of, by continuing as new
// or by a reset.
func Links(e *historypb.HistoryEvent) []string {
	started := e.GetWorkflowExecutionStartedEventAttributes()
	reset := e.GetWorkflowTaskFailedEventAttributes()
	all := []string{
		started.GetFirstExecutionRunId(), started.GetContinuedExecutionRunId(), started.GetOriginalExecutionRunId(),
		e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId(), reset.GetBaseRunId(), reset.GetNewRunId(),
	}
	return slices.DeleteFunc(all, func(runID string) bool { return runID == "" })
}

// Problem says what is wrong with an event. Payloads are JSON as it is; bytes
// within it are base64.
func Problem(e *historypb.HistoryEvent, secrets [][]byte) string {
	data, err := proto.Marshal(e)
	if err != nil {
		return "cannot be encoded: " + err.Error()
	}
	if len(data) > maxEvent {
		return fmt.Sprintf("has %d bytes", len(data))
	}
	for _, s := range secrets {
		if bytes.Contains(data, s) {
			return "holds a secret"
		}
	}
	return ""
}

// Disguises are the canary as it is and in base64, wherever in a text it begins.
func Disguises(canary string) [][]byte {
	all := [][]byte{[]byte(canary)}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte("xxx"[:before] + canary))
		// The first and the last group may hold bits of what stands beside it.
		all = append(all, []byte(text[4:len(text)-4]))
	}
	return all
}
