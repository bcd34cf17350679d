package addon

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
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

// recordings were made by a real server. `make record` writes new ones.
var recordings = historytest.Recordings{Dir: "../testdata/addon", Register: func(w sdkworker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: wire.WorkflowAddon})
}}

func TestReplay(t *testing.T) { recordings.ReplayAll(t) }

// TestRecordingsHaveEveryPhase: a state that was never recorded is one that a change may
// break unseen.
func TestRecordingsHaveEveryPhase(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings.Dir, fmt.Sprintf("v%d-*.json", Version)))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is recorded of version %d (%v): run make record", Version, err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f) // #nosec G304 -- a recording
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(strings.NewReader(string(data)), client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(h.String())
	}
	for _, phase := range []string{
		wire.AddonPending, wire.AddonSynced, wire.AddonOutOfSync, wire.AddonBlocked,
		wire.AddonError, wire.AddonSuspended, wire.AddonSyncing, wire.AddonUninstalling,
	} {
		if !strings.Contains(all.String(), `\"phase\":\"`+phase+`\"`) {
			t.Errorf("no recording has a status with phase %s", phase)
		}
	}
}

// TestRecord plays each tale on a real server, which must accept every command of it, and
// replays what the server recorded. With -record the histories are kept.
func TestRecord(t *testing.T) {
	c := localtest.TemporalClient(t, func(o *client.Options) { o.Identity = "recorder" })
	for name, tell := range tales {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t, c, name)
			tell(p)
			p.keep()
		})
	}
}

// player plays one tale: a workflow on a real server, and the outside world in the hands of
// the tale.
type player struct {
	*outside
	t      *testing.T
	client client.Client
	name   string
	first  string // run
}

func newPlayer(t *testing.T, c client.Client, name string) *player {
	p := &player{outside: newOutside(), t: t, client: c, name: name}
	for _, queue := range []string{name, wire.WaitsOf(name)} {
		w := sdkworker.New(c, queue, sdkworker.Options{})
		recordings.Register(w)
		p.register(w)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	return p
}

func (p *player) start() {
	p.t.Helper()
	run, err := p.client.ExecuteWorkflow(p.t.Context(), client.StartWorkflowOptions{ID: p.name, TaskQueue: p.name}, wire.WorkflowAddon, Input{Addon: ref, Version: Version})
	if err != nil {
		p.t.Fatal(err)
	}
	p.first = run.GetRunID()
}

func (p *player) signal(name string, arg any) {
	p.t.Helper()
	if err := p.client.SignalWorkflow(p.t.Context(), p.name, "", name, arg); err != nil {
		p.t.Fatal(err)
	}
}

// change changes the world and, like the starter, tells the workflow.
func (p *player) change(how func(o *outside)) {
	p.t.Helper()
	p.mu.Lock()
	how(p.outside)
	p.claim.Generation++
	p.claim.Inputs = fmt.Sprintf("in%d", p.claim.Generation)
	p.mu.Unlock()
	p.signal(wire.SignalChanged, nil)
}

// told waits for a phase of the newest inputs.
func (p *player) told(phase string) {
	p.t.Helper()
	p.sees("phase "+phase, func(o *outside) bool {
		return o.claim.Stored.Phase == phase && o.claim.Stored.ObservedInputs == o.claim.Inputs
	})
}

// sees waits until the world is as ok says.
func (p *player) sees(what string, ok func(o *outside) bool) {
	p.t.Helper()
	eventually.Sees(p.t, what, time.Minute, func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return ok(p.outside), fmt.Sprintf("the status %+v, the calls %v", p.claim.Stored, p.calls)
	})
}

// ended waits for the end of the workflow.
func (p *player) ended() {
	p.t.Helper()
	if err := p.client.GetWorkflow(p.t.Context(), p.name, "").Get(p.t.Context(), nil); err != nil {
		p.t.Fatal(err)
	}
}

// keep replays the histories of all runs, and writes them where that is asked for.
func (p *player) keep() {
	p.t.Helper()
	p.idle()
	run := p.first
	for i := 1; run != ""; i++ {
		history := p.history(run)
		run = history.GetEvents()[len(history.GetEvents())-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		if len(history.GetEvents()) < 8 { // a run that only waits has nothing to tell
			continue
		}
		if err := recordings.Replay(history); err != nil {
			p.t.Errorf("replay of run %d: %v", i, err)
		}
		if !*record {
			continue
		}
		if err := recordings.Keep(fmt.Sprintf("v%d-%s-%d", Version, p.name, i), history); err != nil {
			p.t.Fatal(err)
		}
	}
}

// idle waits until the workflow has nothing under way but the wait for another health.
func (p *player) idle() {
	p.t.Helper()
	eventually.Until(p.t, "the workflow is idle", func() bool {
		answer, err := p.client.DescribeWorkflow(p.t.Context(), p.name, "")
		if err != nil {
			p.t.Fatal(err)
		}
		d := answer.RawResponse
		return d.GetPendingWorkflowTask() == nil && (len(d.GetPendingActivities()) == 0 || d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
	})
}

func (p *player) history(run string) *historypb.History {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	history, err := historytest.Read(ctx, p.client, p.name, run)
	if err != nil {
		p.t.Fatal(err)
	}
	return history
}
