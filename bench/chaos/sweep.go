package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
)

const (
	// sweepEvery is the pause between two sweeps of a kind. Schedules leave a minute.
	sweepEvery   = 3 * time.Second
	sweepTimeout = 5 * time.Minute
)

// sweep runs the sweeps of all providers and of the objects, as Schedules would,
// until ctx ends. No sweep learns of the suspects of the one before.
func (r *run) sweep(ctx context.Context) {
	var kinds sync.WaitGroup
	defer kinds.Wait()
	kinds.Go(func() { r.sweepAgain(ctx, wire.SweepObjectsID, wire.WorkflowObjectSweep) })
	for _, name := range providerNames {
		kinds.Go(func() { r.sweepAgain(ctx, wire.SweepID(name), wire.WorkflowSweep, wire.SweepInput{Provider: name}) })
	}
}

func (r *run) sweepAgain(ctx context.Context, id, workflow string, args ...any) {
	for n := 0; linger(ctx, sweepEvery) == nil; n++ {
		o := temporalclient.StartWorkflowOptions{
			ID: fmt.Sprintf("%s-%d", id, n), TaskQueue: wire.QueueMain, WorkflowRunTimeout: sweepTimeout,
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, // or one whose start was told to nobody ran twice
		}
		_ = insist(ctx, "run "+o.ID, func(ctx context.Context) error { return r.sweepOnce(ctx, o, workflow, args) }) // it fails only when ctx ends
	}
}

// sweepOnce starts a sweep, or finds it started, and reads its history when it has ended.
func (r *run) sweepOnce(ctx context.Context, o temporalclient.StartWorkflowOptions, workflow string, args []any) error {
	sweep, err := r.temporal.ExecuteWorkflow(ctx, o, workflow, args...)
	if err != nil {
		return err
	}
	err = sweep.Get(ctx, nil)
	var failed *temporal.WorkflowExecutionError // as where the backend did not answer; the next one sees more
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	if failed != nil {
		workflow += " failed"
	}
	if _, err = r.readHistory(ctx, o.ID, sweep.GetRunID(), ""); err == nil {
		r.progress.throw(workflow)
	}
	return err
}
