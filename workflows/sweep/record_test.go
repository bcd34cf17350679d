package sweep

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/historytest"
	"example.com/fairlead/temporal/wire"
)

var record = flag.Bool("record", false, "record new histories for the replay test, on a real Temporal server")

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

var recordings = historytest.Recordings{Dir: "../testdata/sweep", Register: func(w sdkworker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Provider, workflow.RegisterOptions{Name: wire.WorkflowSweep})
	w.RegisterWorkflowWithOptions(Objects, workflow.RegisterOptions{Name: wire.WorkflowObjectSweep})
	w.RegisterWorkflowWithOptions(Addons, workflow.RegisterOptions{Name: wire.WorkflowAddonSweep})
}}

func TestReplay(t *testing.T) { recordings.ReplayAll(t) }

// TestRecord lets a Schedule of a real server run sweeps, one after another, and
// replays what the server recorded. With -record the histories are kept.
func TestRecord(t *testing.T) {
	for name, tale := range map[string]struct {
		workflow string
		backend  backend
		runs     int
		kills    []int // in each run
	}{
		"quiet": {workflow: wire.WorkflowSweep, runs: 1, kills: []int{0}, backend: backend{look: wire.Sweep{Instances: 3, Proxies: 3, KillBudget: 5}}},
		"orphans": {workflow: wire.WorkflowSweep, runs: 3, kills: []int{0, 2, 1}, backend: backend{
			look:     wire.Sweep{Instances: 4, Proxies: 1, Suspects: suspects("a", "b", "c"), KillBudget: 2},
			outcomes: map[string]wire.OrphanOutcome{"a": {Reason: "its workflow is open"}},
			failing:  map[string]error{"b": errors.New("its host does not answer")},
		}},
		"partial":     {workflow: wire.WorkflowSweep, runs: 2, kills: []int{0, 0}, backend: backend{look: wire.Sweep{Partial: true, Suspects: suspects("a"), KillBudget: 5}}},
		"unreachable": {workflow: wire.WorkflowSweep, runs: 1, backend: backend{fail: errors.New("no route to host")}},
		"objects":     {workflow: wire.WorkflowObjectSweep, runs: 1, backend: backend{objects: wire.ObjectSweepResult{Objects: 7, Started: 1, Pruned: []string{"gone"}}}},
		"addons":      {workflow: wire.WorkflowAddonSweep, runs: 1, backend: backend{addons: wire.AddonSweepResult{Addons: 9, Started: 1, Woken: 2, Problem: "one cannot be looked at"}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := localtest.TemporalClient(t, func(o *client.Options) { o.Identity = "recorder" })
			for _, queue := range []string{wire.QueueMain, wire.QueueAddons, wire.ProviderQueue("kvm")} {
				w := sdkworker.New(c, queue, sdkworker.Options{})
				recordings.Register(w)
				tale.backend.register(t, w)
				if err := w.Start(); err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
			}
			schedule := newSchedule(t, c, tale.workflow)
			for n := range tale.runs {
				run := schedule.run(t, n)
				var result wire.SweepResult
				err := c.GetWorkflow(t.Context(), run.WorkflowID, run.FirstExecutionRunID).Get(t.Context(), &result)
				if (err != nil) != (tale.backend.fail != nil) {
					t.Fatal(err)
				}
				if tale.kills != nil && len(result.Kills) != tale.kills[n] {
					t.Errorf("run %d tried to delete %+v, want %d", n+1, result.Kills, tale.kills[n])
				}
				keep(t, c, fmt.Sprintf("v%d-%s-%d", Version, name, n+1), run)
			}
		})
	}
}

func keep(t *testing.T, c client.Client, name string, run *client.ScheduleWorkflowExecution) {
	t.Helper()
	h, err := historytest.Read(t.Context(), c, run.WorkflowID, run.FirstExecutionRunID)
	if err != nil {
		t.Fatal(err)
	}
	if err := recordings.Replay(h); err != nil {
		t.Errorf("replay of %s: %v", name, err)
	}
	if *record {
		if err := recordings.Keep(name, h); err != nil {
			t.Fatal(err)
		}
	}
}

// schedule runs a sweep when it is told to: the result of a run reaches the next one
// through it.
type schedule struct{ client.ScheduleHandle }

func newSchedule(t *testing.T, c client.Client, name string) schedule {
	t.Helper()
	action := &client.ScheduleWorkflowAction{ID: "sweep/kvm", Workflow: name, TaskQueue: wire.QueueMain}
	if name == wire.WorkflowSweep {
		action.Args = []any{wire.SweepInput{Provider: "kvm"}}
	}
	h, err := c.ScheduleClient().Create(t.Context(), client.ScheduleOptions{ID: "sweep/kvm", Action: action, Paused: true})
	if err != nil {
		t.Fatal(err)
	}
	return schedule{h}
}

// run is the nth run of the Schedule.
func (s schedule) run(t *testing.T, n int) *client.ScheduleWorkflowExecution {
	t.Helper()
	if err := s.Trigger(t.Context(), client.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	var recent []client.ScheduleActionResult
	eventually.Until(t, fmt.Sprintf("the Schedule has run %d times", n+1), func() bool {
		d, err := s.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		recent = d.Info.RecentActions
		return len(recent) > n && len(d.Info.RunningWorkflows) == 0
	})
	return recent[n].StartWorkflowResult
}
