package main

import (
	"context"
	"fmt"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"

	"example.com/fairlead/bench/internal/history"
	"example.com/fairlead/temporal/wire"
)

// readHistories exports every run of the workflow of an object that is gone, and
// holds each event to its size and to having no secret.
func (a *actor) readHistories(ctx context.Context) error {
	a.exports <- struct{}{}
	defer func() { <-a.exports }()
	limited, cancel := context.WithTimeout(ctx, endedLimit)
	defer cancel()
	id := wire.ProxyID(a.ref)
	return insist(limited, "export the histories of "+id, func(ctx context.Context) error {
		runs, err := history.Runs(ctx, a.temporal, temporalNamespace, id)
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
		links = append(links, history.Links(e)...)
		if problem := history.Problem(e, r.secrets); problem != "" {
			r.fail(&violation{broken, uid, fmt.Sprintf("event %d (%s) of run %s of %s %s", e.GetEventId(), e.GetEventType(), runID, id, problem)})
		}
	}
	r.progress.count(runsRead, 1)
	r.progress.count(eventsRead, n)
	return links, nil
}
