package proxy

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
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
				p.Keep(recordings, Version, *record)
			})
		}
	}
}

// player plays one tale: a workflow on a real server, and the outside world in the
// hands of the tale.
type player struct {
	*outside
	*historytest.Player
}

func newPlayer(t *testing.T, c client.Client, name string) *player {
	p := &player{outside: newOutside(), Player: &historytest.Player{T: t, Client: c, Name: name}}
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
	p.T.Helper()
	p.Start(wire.WorkflowProxy, Input{Proxy: ref, Version: Version, State: state})
}

// change changes the world and, like the starter, tells the workflow.
func (p *player) change(how func(o *outside)) {
	p.T.Helper()
	p.mu.Lock()
	how(p.outside)
	p.mu.Unlock()
	p.Signal(wire.SignalChanged, nil)
}

// cut wakes the workflow, and returns once it has asked for the activity that is
// running to be cancelled.
func (p *player) cut() {
	p.T.Helper()
	if err := p.Client.SignalWorkflow(p.T.Context(), p.Name, "", wire.SignalChanged, nil); err != nil {
		p.T.Error(err)
		return
	}
	// Not eventually.Until, which must not fail a test from the goroutine of an activity.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := p.Client.DescribeWorkflow(p.T.Context(), p.Name, "")
		if err != nil {
			p.T.Error(err)
			return
		}
		for _, a := range answer.RawResponse.GetPendingActivities() {
			if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
				return
			}
		}
	}
	p.T.Error("the activity is not to be cancelled after a minute")
}

// until waits until the world is as ok says.
func (p *player) until(what string, ok func(o *outside) bool) {
	p.T.Helper()
	eventually.Sees(p.T, what, time.Minute, func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return ok(p.outside), fmt.Sprintf("the status %+v, the calls %v", p.claim.Stored, p.calls)
	})
}

// told waits for a phase and the reason of its Provisioned condition.
func (p *player) told(phase, reason string) {
	p.T.Helper()
	p.until(phase+"/"+reason, func(o *outside) bool {
		c := condition(o.claim.Stored.Conditions, wire.ConditionProvisioned)
		return o.claim.Stored.Phase == phase && c != nil && c.Reason == reason
	})
}

// healthy makes the proxy Ready.
func (p *player) healthy() {
	p.T.Helper()
	p.told(wire.PhaseProvisioning, wire.ReasonCreated)
	p.verdict(true)
	p.told(wire.PhaseReady, wire.ReasonCreated)
}

// verdict is what a probe says.
func (p *player) verdict(healthy bool) {
	p.T.Helper()
	h := wire.Health{Incarnation: p.incarnation(), Healthy: healthy, Verdict: map[bool]string{true: "healthy", false: "dead"}[healthy], LatencyMillis: 7, ProbedAt: now}
	p.Signal(wire.SignalHealth, h)
}

// seen makes a sweep see the instance in another state.
func (p *player) seen(state string) {
	p.T.Helper()
	p.mu.Lock()
	p.instance.State = state
	p.mu.Unlock()
	p.Signal(wire.SignalObserved, nil)
}

func (p *player) incarnation() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return newest(p.claim.Stored.Ledger).Incarnation
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
