package proxy

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/historytest"
	"example.com/fairlead/temporal/wire"
)

var record = flag.Bool("record", false, "record new histories for the replay test, on a real Temporal server")

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// TestRecord plays each tale on a real server, which must accept every command of
// it, and replays what the server recorded. With -record the histories are kept.
func TestRecord(t *testing.T) {
	c := localtest.TemporalClient(t, func(o *client.Options) { o.Identity = "recorder" })
	for _, some := range []map[string]func(*player){tales, troubles, banTales} {
		for name, tell := range some {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPlayer(t, c, name)
				tell(p)
				p.keep()
			})
		}
	}
}

// player plays one tale: a workflow on a real server, and the outside world in the
// hands of the tale.
type player struct {
	*outside
	t      *testing.T
	client client.Client
	name   string
	first  string // run
}

func newPlayer(t *testing.T, c client.Client, name string) *player {
	p := &player{outside: newOutside(), t: t, client: c, name: name}
	p.claim.Provider = name // a queue of its own
	main := sdkworker.New(c, name, sdkworker.Options{})
	recordings.Register(main)
	p.register(main)
	calls := sdkworker.New(c, wire.ProviderQueue(name), sdkworker.Options{})
	p.register(calls)
	for _, w := range []sdkworker.Worker{main, calls} {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	return p
}

// start starts the workflow with what a former run left; nil for a new object.
func (p *player) start(state *State) {
	p.t.Helper()
	run, err := p.client.ExecuteWorkflow(p.t.Context(), client.StartWorkflowOptions{ID: p.name, TaskQueue: p.name}, wire.WorkflowProxy, Input{Proxy: ref, Version: Version, State: state})
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
	p.mu.Unlock()
	p.signal(wire.SignalChanged, nil)
}

// cut wakes the workflow, and returns once it has asked for the activity that is
// running to be cancelled.
func (p *player) cut() {
	p.t.Helper()
	if err := p.client.SignalWorkflow(p.t.Context(), p.name, "", wire.SignalChanged, nil); err != nil {
		p.t.Error(err)
		return
	}
	// Not eventually.Until, which must not fail a test from the goroutine of an activity.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := p.client.DescribeWorkflow(p.t.Context(), p.name, "")
		if err != nil {
			p.t.Error(err)
			return
		}
		for _, a := range answer.RawResponse.GetPendingActivities() {
			if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
				return
			}
		}
	}
	p.t.Error("the activity is not to be cancelled after a minute")
}

// until waits until the world is as ok says.
func (p *player) until(what string, ok func(o *outside) bool) {
	p.t.Helper()
	eventually.Sees(p.t, what, time.Minute, func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return ok(p.outside), fmt.Sprintf("the status %+v, the calls %v", p.claim.Stored, p.calls)
	})
}

// told waits for a phase and the reason of its Provisioned condition.
func (p *player) told(phase, reason string) {
	p.t.Helper()
	p.until(phase+"/"+reason, func(o *outside) bool {
		c := condition(o.claim.Stored.Conditions, wire.ConditionProvisioned)
		return o.claim.Stored.Phase == phase && c != nil && c.Reason == reason
	})
}

// healthy makes the proxy Ready.
func (p *player) healthy() {
	p.t.Helper()
	p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	p.verdict(true)
	p.told(wire.PhaseReady, wire.ReasonCreated)
}

// verdict is what a probe says.
func (p *player) verdict(healthy bool) {
	p.t.Helper()
	h := wire.Health{Incarnation: p.incarnation(), Healthy: healthy, Verdict: map[bool]string{true: "healthy", false: "dead"}[healthy], LatencyMillis: 7, ProbedAt: now}
	p.signal(wire.SignalHealth, h)
}

// seen makes a sweep see the instance in another state.
func (p *player) seen(state string) {
	p.t.Helper()
	p.mu.Lock()
	p.instance.State = state
	p.mu.Unlock()
	p.signal(wire.SignalObserved, nil)
}

func (p *player) incarnation() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return newest(p.claim.Stored.Ledger).Incarnation
}

// ended waits for the end of the workflow.
func (p *player) ended() {
	p.t.Helper()
	if err := p.client.GetWorkflow(p.t.Context(), p.name, "").Get(p.t.Context(), nil); err != nil {
		p.t.Fatal(err)
	}
}

// refuse makes activities fail by name.
func refuse(failures map[string]error) func(*outside) {
	return func(o *outside) { o.fail = func(activity string) error { return failures[activity] } }
}

func failure(kind string, lasting bool) error {
	return temporal.NewApplicationErrorWithOptions("why: "+kind, kind, temporal.ApplicationErrorOptions{
		NonRetryable: lasting, NextRetryDelay: 200 * time.Millisecond, Details: []any{wire.FailureDetail{Attempt: 1}},
	})
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

// idle waits until the workflow has nothing under way.
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
