package sweep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"example.com/fairlead/temporal/wire"
)

// backend answers the activities of a sweep.
type backend struct {
	look wire.Sweep
	fail error
	// outcomes by name; without one an orphan is deleted.
	outcomes map[string]wire.OrphanOutcome
	failing  map[string]error
	objects  wire.ObjectSweepResult
	addons   wire.AddonSweepResult

	looks int
	tried []string
}

func suspect(name string) wire.Suspect {
	return wire.Suspect{Place: "here", Name: name, Incarnation: 3, UID: "uid-" + name}
}

func suspects(names ...string) []wire.Suspect {
	var all []wire.Suspect
	for _, n := range names {
		all = append(all, suspect(n))
	}
	return all
}

func environment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	return suite.NewTestWorkflowEnvironment()
}

// register makes w run the activities.
func (b *backend) register(t *testing.T, w worker.ActivityRegistry) {
	w.RegisterActivityWithOptions(func(ctx context.Context, in wire.SweepInput) (wire.Sweep, error) {
		b.looks++
		if queue := activity.GetInfo(ctx).TaskQueue; in.Provider != "kvm" || queue != wire.ProviderQueue("kvm") {
			t.Errorf("a look at %q was queued for %s", in.Provider, queue)
		}
		return b.look, b.fail
	}, activity.RegisterOptions{Name: wire.ActivitySweep})
	w.RegisterActivityWithOptions(func(_ context.Context, in wire.OrphanInput) (wire.OrphanOutcome, error) {
		b.tried = append(b.tried, in.Suspect.Name)
		if err := b.failing[in.Suspect.Name]; err != nil {
			return wire.OrphanOutcome{}, err
		}
		if o, ok := b.outcomes[in.Suspect.Name]; ok {
			return o, nil
		}
		return wire.OrphanOutcome{Deleted: true}, nil
	}, activity.RegisterOptions{Name: wire.ActivityDeleteOrphan})
	w.RegisterActivityWithOptions(func(ctx context.Context) (wire.ObjectSweepResult, error) {
		if queue := activity.GetInfo(ctx).TaskQueue; queue != wire.QueueMain {
			t.Errorf("it was queued for %s", queue)
		}
		return b.objects, nil
	}, activity.RegisterOptions{Name: wire.ActivitySweepObjects})
	w.RegisterActivityWithOptions(func(ctx context.Context) (wire.AddonSweepResult, error) {
		info := activity.GetInfo(ctx)
		if info.TaskQueue != wire.QueueAddons || info.HeartbeatTimeout == 0 || info.StartToCloseTimeout <= info.HeartbeatTimeout {
			t.Errorf("it was queued for %s, with %s between its signs of life and %s in all", info.TaskQueue, info.HeartbeatTimeout, info.StartToCloseTimeout)
		}
		return b.addons, b.fail
	}, activity.RegisterOptions{Name: wire.ActivitySweepAddons})
}

// run runs one sweep after one with the result last, or as the first.
func (b *backend) run(t *testing.T, last any) (wire.SweepResult, error) {
	t.Helper()
	env := environment()
	if last != nil {
		env.SetLastCompletionResult(last)
	}
	b.register(t, env)
	env.ExecuteWorkflow(Provider, wire.SweepInput{Provider: "kvm"})
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow did not end")
	}
	if err := env.GetWorkflowError(); err != nil {
		return wire.SweepResult{}, err
	}
	var r wire.SweepResult
	if err := env.GetWorkflowResult(&r); err != nil {
		t.Fatal(err)
	}
	return r, nil
}

func after(names ...string) *wire.SweepResult {
	return &wire.SweepResult{Sweep: wire.Sweep{Suspects: suspects(names...)}}
}

func TestSweepOfAProvider(t *testing.T) {
	tests := map[string]struct {
		backend backend
		last    *wire.SweepResult
		want    wire.SweepResult
		tried   []string
	}{
		"nothing is wrong": {
			backend: backend{look: wire.Sweep{Instances: 3, Proxies: 3, KillBudget: 5}},
			want:    wire.SweepResult{Sweep: wire.Sweep{Instances: 3, Proxies: 3, KillBudget: 5}},
		},
		"a first sight only makes suspects": {
			backend: backend{look: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}},
			want:    wire.SweepResult{Sweep: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}},
		},
		"a second sight kills, and others stay suspects": {
			backend: backend{look: wire.Sweep{Suspects: suspects("a", "b"), KillBudget: 5}},
			last:    after("a"),
			want: wire.SweepResult{
				Sweep:   wire.Sweep{Suspects: suspects("b"), KillBudget: 5},
				Orphans: 1, Kills: []wire.Kill{{Name: "a", Outcome: "deleted"}},
			},
			tried: []string{"a"},
		},
		"another incarnation is another instance": {
			backend: backend{look: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}},
			last:    &wire.SweepResult{Sweep: wire.Sweep{Suspects: []wire.Suspect{{Place: "here", Name: "a", Incarnation: 2, UID: "uid-a"}}}},
			want:    wire.SweepResult{Sweep: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}},
		},
		"the budget bounds the kills, the rest stays suspected": {
			backend: backend{look: wire.Sweep{Suspects: suspects("a", "b", "c"), KillBudget: 2}},
			last:    after("a", "b", "c"),
			want: wire.SweepResult{
				Sweep:   wire.Sweep{Suspects: suspects("c"), KillBudget: 2},
				Orphans: 3, Kills: []wire.Kill{{Name: "a", Outcome: "deleted"}, {Name: "b", Outcome: "deleted"}},
			},
			tried: []string{"a", "b"},
		},
		"without a budget orphans are only counted": {
			backend: backend{look: wire.Sweep{Suspects: suspects("a")}},
			last:    after("a"),
			want:    wire.SweepResult{Sweep: wire.Sweep{Suspects: suspects("a")}, Orphans: 1},
		},
		"a partial look neither makes nor confirms suspects, and keeps the former": {
			backend: backend{look: wire.Sweep{Partial: true, Suspects: suspects("a", "b"), KillBudget: 5}},
			last:    after("a", "z"),
			want:    wire.SweepResult{Sweep: wire.Sweep{Partial: true, Suspects: suspects("a", "z"), KillBudget: 5}},
		},
		"one that is left alone or fails does not hold up the next": {
			backend: backend{
				look:     wire.Sweep{Suspects: suspects("a", "b", "c"), KillBudget: 5},
				outcomes: map[string]wire.OrphanOutcome{"a": {Reason: "its workflow is open"}},
				failing:  map[string]error{"b": temporal.NewApplicationError(strings.Repeat("x", 4000), wire.FailureTransient)},
			},
			last: after("a", "b", "c"),
			want: wire.SweepResult{
				Sweep:   wire.Sweep{KillBudget: 5},
				Orphans: 3, Kills: []wire.Kill{{Name: "a", Outcome: "left alone: its workflow is open"}, {Name: "b"}, {Name: "c", Outcome: "deleted"}},
			},
			tried: []string{"a", "b", "c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var last any
			if tt.last != nil {
				last = tt.last
			}
			got, err := tt.backend.run(t, last)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range got.Kills {
				if len(k.Outcome) > maxOutcome {
					t.Errorf("an outcome has %d bytes", len(k.Outcome))
				}
				if strings.HasPrefix(k.Outcome, "failed: ") {
					got.Kills[i].Outcome = ""
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tried, tt.backend.tried); diff != "" {
				t.Errorf("tried (-want +got):\n%s", diff)
			}
			if tt.backend.looks != 1 {
				t.Errorf("%d looks", tt.backend.looks)
			}
		})
	}
}

func TestAFailedLookFailsTheRun(t *testing.T) {
	b := &backend{fail: errors.New("unreachable"), look: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}}
	if r, err := b.run(t, after("a")); err == nil {
		t.Errorf("it completed with %+v, which would replace what the run before left", r)
	}
	if b.looks != 1 || len(b.tried) != 0 {
		t.Errorf("%d looks, tried %v", b.looks, b.tried)
	}
}

func TestSuspectsFromAnotherVersionConfirmNothing(t *testing.T) {
	b := &backend{look: wire.Sweep{Suspects: suspects("a"), KillBudget: 5}}
	r, err := b.run(t, "not a result of a sweep")
	if err != nil || r.Orphans != 0 || len(b.tried) != 0 || len(r.Suspects) != 1 {
		t.Errorf("result = %+v, error %v, tried %v", r, err, b.tried)
	}
}

func TestResultsStaySmall(t *testing.T) {
	for _, long := range []int{10, 250, 4000} {
		var all []wire.Suspect
		for i := range 1000 {
			all = append(all, wire.Suspect{Place: strings.Repeat("p", long), Name: fmt.Sprintf("proxy-%016d", i), UID: strings.Repeat("u", 36), Incarnation: 1 << 60})
		}
		b := &backend{look: wire.Sweep{Suspects: all, KillBudget: 50, Problem: strings.Repeat("x", 1000)}}
		r, err := b.run(t, &wire.SweepResult{Sweep: wire.Sweep{Suspects: wire.BoundSuspects(all)[:10]}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := converter.GetDefaultDataConverter().ToPayload(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Suspects) == 0 && long < 4000 || len(r.Suspects) > 200 || len(p.Data) > 48<<10 {
			t.Errorf("places of %d bytes: %d suspects in %d bytes", long, len(r.Suspects), len(p.Data))
		}
	}
}

func TestSweepOfObjects(t *testing.T) {
	env := environment()
	want := wire.ObjectSweepResult{Objects: 7, Started: 1, Pruned: []string{"gone"}}
	(&backend{objects: want}).register(t, env)
	env.ExecuteWorkflow(Objects)
	var got wire.ObjectSweepResult
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestSweepOfAddons(t *testing.T) {
	env := environment()
	want := wire.AddonSweepResult{Addons: 7, Started: 1, Woken: 2, Problem: "one cannot be looked at"}
	(&backend{addons: want}).register(t, env)
	env.ExecuteWorkflow(Addons)
	var got wire.AddonSweepResult
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
