package addon

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

func TestARequestOutlivesARunWhoseHistoryIsFull(t *testing.T) {
	o := newOutside()
	o.claim.ManualSync = true
	state := o.episode(t, nil, nil)

	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	o.register(env)
	o.calls = nil
	env.RegisterDelayedCallback(func() {
		env.SetContinueAsNewSuggested(true)
		env.SignalWorkflow(wire.SignalSync, wire.SyncInput{Who: "ann"})
	}, time.Second)
	env.ExecuteWorkflow(Workflow, Input{Addon: ref, Version: Version, State: state})
	var again *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("the run ended with %v", err)
	}
	var next Input
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	o.called(t)

	env = suite.NewTestWorkflowEnvironment()
	o.register(env)
	env.ExecuteWorkflow(Workflow, next)
	o.called(t, wire.ActivityAddonAsk, claimed, previewed, published, applied+wire.PartAll, published)
	o.phase(t, wire.AddonSynced)
}
