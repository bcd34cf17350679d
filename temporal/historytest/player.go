package historytest

import (
	"context"
	"fmt"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"example.com/fairlead/internal/eventually"
)

// Player plays a workflow on a real server.
type Player struct {
	T      *testing.T
	Client client.Client
	// Name is the id of the workflow, and its task queue.
	Name string

	first string // run
}

// Start starts the workflow.
func (p *Player) Start(workflow string, input any) {
	p.T.Helper()
	run, err := p.Client.ExecuteWorkflow(p.T.Context(), client.StartWorkflowOptions{ID: p.Name, TaskQueue: p.Name}, workflow, input)
	if err != nil {
		p.T.Fatal(err)
	}
	p.first = run.GetRunID()
}

// Signal sends a signal.
func (p *Player) Signal(name string, arg any) {
	p.T.Helper()
	if err := p.Client.SignalWorkflow(p.T.Context(), p.Name, "", name, arg); err != nil {
		p.T.Fatal(err)
	}
}

// Ended waits for the end of the workflow.
func (p *Player) Ended() {
	p.T.Helper()
	if err := p.Client.GetWorkflow(p.T.Context(), p.Name, "").Get(p.T.Context(), nil); err != nil {
		p.T.Fatal(err)
	}
}

// Idle waits until the workflow has nothing under way.
func (p *Player) Idle() {
	p.T.Helper()
	eventually.Until(p.T, "the workflow is idle", func() bool {
		answer, err := p.Client.DescribeWorkflow(p.T.Context(), p.Name, "")
		if err != nil {
			p.T.Fatal(err)
		}
		d := answer.RawResponse
		return d.GetPendingWorkflowTask() == nil && (len(d.GetPendingActivities()) == 0 || d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
	})
}

// toTell is how many events the history of a run has that did more than wait.
const toTell = 8

// Keep replays the histories of all runs, and writes them to r where record says so.
func (p *Player) Keep(r Recordings, version int, record bool) {
	p.T.Helper()
	p.Idle()
	run := p.first
	for i := 1; run != ""; i++ {
		history := p.history(run)
		run = history.GetEvents()[len(history.GetEvents())-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		if len(history.GetEvents()) < toTell {
			continue
		}
		if err := r.Replay(history); err != nil {
			p.T.Errorf("replay of run %d: %v", i, err)
		}
		if !record {
			continue
		}
		if err := r.Keep(fmt.Sprintf("v%d-%s-%d", version, p.Name, i), history); err != nil {
			p.T.Fatal(err)
		}
	}
}

func (p *Player) history(run string) *historypb.History {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), time.Minute)
	defer cancel()
	history, err := Read(ctx, p.Client, p.Name, run)
	if err != nil {
		p.T.Fatal(err)
	}
	return history
}
