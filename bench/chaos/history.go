package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"example.com/fairlead/temporal/wire"
)

// maxEvent is how large an event of a history may be, in bytes.
const maxEvent = 64 << 10

// readHistories exports every run of the workflow of an object that is gone, and
// holds each event to its size and to having no secret.
func (a *actor) readHistories(ctx context.Context) error {
	a.exports <- struct{}{}
	defer func() { <-a.exports }()
	id := wire.ProxyID(a.ref)
	return insist(ctx, "export the histories of "+id, func(ctx context.Context) error {
		runs, err := a.runsOf(ctx, id)
		if err != nil {
			return err
		}
		for _, runID := range runs {
			if err := a.readHistory(ctx, id, runID); err != nil {
				return err
			}
		}
		return nil
	})
}

// runsOf lists the runs of a workflow. The list may be behind: it must have the
// newest one.
func (r *run) runsOf(ctx context.Context, id string) ([]string, error) {
	desc, err := r.temporal.DescribeWorkflow(ctx, id, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) { // the object was gone before the starter saw it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []string
	newest := false
	req := &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporalNamespace, Query: "WorkflowId = '" + id + "'", PageSize: 1000}
	for {
		list, err := r.temporal.ListWorkflow(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, e := range list.GetExecutions() {
			runs = append(runs, e.GetExecution().GetRunId())
			newest = newest || e.GetExecution().GetRunId() == desc.WorkflowExecution.RunID
		}
		if req.NextPageToken = list.GetNextPageToken(); len(req.NextPageToken) == 0 {
			break
		}
	}
	if !newest {
		return nil, fmt.Errorf("the list of runs lacks the newest, %s", desc.WorkflowExecution.RunID)
	}
	return runs, nil
}

func (a *actor) readHistory(ctx context.Context, id, runID string) error {
	events := a.temporal.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	n := 0
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		n++
		if problem := problemOf(e, a.secrets); problem != "" {
			a.fail(&violation{broken, a.ref.UID, fmt.Sprintf("event %d (%s) of run %s %s", e.GetEventId(), e.GetEventType(), runID, problem)})
		}
	}
	a.progress.exported(n)
	return nil
}

// problemOf says what is wrong with an event. Payloads are JSON as it is; bytes
// within it are base64.
func problemOf(e *historypb.HistoryEvent, secrets [][]byte) string {
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

// disguises are the canary as it is and in base64, wherever in a text it begins.
func disguises(canary string) [][]byte {
	all := [][]byte{[]byte(canary)}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte("xxx"[:before] + canary))
		// The first and the last group may hold bits of what stands beside it.
		all = append(all, []byte(text[4:len(text)-4]))
	}
	return all
}
