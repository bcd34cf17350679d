package proxy

import (
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/historytest"
	"example.com/fairlead/temporal/wire"
)

// recordings were made by real servers and providers. `make record` writes new ones.
var recordings = historytest.Recordings{Dir: "../testdata/proxy", Register: func(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: wire.WorkflowProxy})
}}

func TestReplay(t *testing.T) { recordings.ReplayAll(t) }
