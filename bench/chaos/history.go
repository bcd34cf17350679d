package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

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
	limited, cancel := context.WithTimeout(ctx, endedLimit)
	defer cancel()
	id := wire.ProxyID(a.ref)
	return insist(limited, "export the histories of "+id, func(ctx context.Context) error {
		runs, err := a.runsOf(ctx, id)
		if err != nil {
			return err
		}
		known := slices.Clone(a.runs) // a run that was ended is the only trace of the chain that it was in
		for runID := range runs {
			links, err := a.readHistory(ctx, id, runID, a.ref.UID)
			if err != nil {
				return err
			}
			known = append(known, links...)
		}
		for _, runID := range known {
			if !runs[runID] {
				return fmt.Errorf("the list of runs is behind: it lacks %s", runID)
			}
		}
		return nil
	})
}

// runsOf lists the runs of a workflow. The list may be behind: it must have the
// newest one, and all that any of them tells of.
func (r *run) runsOf(ctx context.Context, id string) (map[string]bool, error) {
	desc, err := r.temporal.DescribeWorkflow(ctx, id, "")
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) { // the object was gone before the starter saw it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs := map[string]bool{}
	req := &workflowservice.ListWorkflowExecutionsRequest{Namespace: temporalNamespace, Query: "WorkflowId = '" + id + "'", PageSize: 1000}
	for {
		list, err := r.temporal.ListWorkflow(ctx, req)
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

// readHistory reads one run of a workflow, which may be that of an object, and returns
// the other runs of which it tells.
func (r *run) readHistory(ctx context.Context, id, runID, uid string) (links []string, err error) {
	events := r.temporal.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	n := 0
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		n++
		links = append(links, linksOf(e)...)
		if problem := problemOf(e, r.secrets); problem != "" {
			r.fail(&violation{broken, uid, fmt.Sprintf("event %d (%s) of run %s of %s %s", e.GetEventId(), e.GetEventType(), runID, id, problem)})
		}
	}
	r.progress.count(runsRead, 1)
	r.progress.count(eventsRead, n)
	return links, nil
}

// linksOf are the runs before and after that an event tells of, by continuing as new
// or by a reset.
func linksOf(e *historypb.HistoryEvent) []string {
	started := e.GetWorkflowExecutionStartedEventAttributes()
	reset := e.GetWorkflowTaskFailedEventAttributes()
	all := []string{
		started.GetFirstExecutionRunId(), started.GetContinuedExecutionRunId(), started.GetOriginalExecutionRunId(),
		e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId(), reset.GetBaseRunId(), reset.GetNewRunId(),
	}
	return slices.DeleteFunc(all, func(runID string) bool { return runID == "" })
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
