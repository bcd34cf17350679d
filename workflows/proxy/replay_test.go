package proxy

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// recordings are where histories of this workflow are kept.
const recordings = "../testdata/proxy"

// TestReplay replays histories that real servers and providers made: a change of
// the workflow must not break what is under way. `make record` writes new ones.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded histories (%v): run make record", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			r.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: wire.WorkflowProxy})
			if err := r.ReplayWorkflowHistoryFromJSONFile(nil, f); err != nil {
				t.Error(err)
			}
		})
	}
}
