package addon_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// fullStatus says all that a workflow can say, but for sets.
func fullStatus(sequence int64) wire.AddonStatus {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return wire.AddonStatus{
		Sequence: sequence, Phase: "Syncing", Message: "applying", ObservedGeneration: 1, ObservedInputs: "inputs",
		Revision: "demo-1.0.0", Version: "1.0.0", Digest: "sha256:d", PlanHash: "plan",
		Counts: wire.AddonCounts{Create: 1, Update: 2, Replace: 3, Prune: 4, Unchanged: 5, Unverified: 6},
		Health: wire.AddonHealth{Status: "Progressing", Message: "1 of 2"}, Adopted: true, AppliedHash: "hash",
		LastSynced: at, AppliedSyncRequest: 7,
		Sync: &wire.AddonSync{
			ID: "id", Lifecycle: "upgrade", Hash: "hash", PlanHash: "plan", Approver: wire.Approver{Name: "alice", Verified: true},
			Pre: 1, Post: 2, Applied: true, Attempt: 3,
		},
	}
}

func TestPublish(t *testing.T) {
	o := newOffice(t)
	ref := o.create("published")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	in := wire.AddonPublishInput{
		Addon: ref, Status: fullStatus(5),
		Ran:   []wire.AddonHookRun{{Event: "pre-install", Kind: "Job", Name: "migrate", Failed: true, Message: "exit 1", At: at}},
		Ended: &wire.AddonSyncEnd{Revision: "demo-1.0.0", PlanHash: "plan", Approver: wire.Approver{Name: "alice", Verified: true}, At: at, Outcome: "Failed", Message: "a hook failed"},
	}
	o.publish(in)
	first := o.read(ref)
	t.Run("what is published is what is claimed", func(t *testing.T) {
		if diff := cmp.Diff(in.Status, o.claim(ref).Stored); diff != "" {
			t.Errorf("status (-published +claimed):\n%s", diff)
		}
	})
	t.Run("the ends of hooks and syncs are in it", func(t *testing.T) {
		seconds := metav1.NewTime(at.Truncate(time.Second))
		runs := []addons.HookRun{{Event: "pre-install", Kind: "Job", Name: "migrate", Status: addons.HookFailed, Message: "exit 1", Finished: &seconds}}
		history := []addons.HistoryEntry{{Revision: "demo-1.0.0", PlanHash: "plan", Who: "alice", Verified: true, At: seconds, Outcome: addons.OutcomeFailed, Message: "a hook failed"}}
		if diff := cmp.Diff(runs, first.Status.HookRuns); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(history, first.Status.History); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
	t.Run("the same status again is stored already", func(t *testing.T) {
		o.publish(in)
		if diff := cmp.Diff(first.Status, o.read(ref).Status); diff != "" {
			t.Errorf("status (-first +second):\n%s", diff)
		}
	})
	t.Run("a status that the API server will never take is permanent", func(t *testing.T) {
		err := o.Publish(t.Context(), wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 6, Phase: "NoSuchPhase"}})
		if !errors.Is(err, outcome.ErrPermanent) {
			t.Errorf("error = %v, want ErrPermanent", err)
		}
	})
	t.Run("a plan is not shown over the one that somebody asks for since the claim", func(t *testing.T) {
		to := o.create("edited")
		o.edit(to, func(a *addons.Addon) { a.Spec.SyncRequest = 1 })
		stale := wire.AddonStatus{Sequence: 1, Phase: "OutOfSync", ObservedGeneration: 1, PlanHash: "unseen"}
		if err := o.Publish(t.Context(), wire.AddonPublishInput{Addon: to, Status: stale}); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("error = %v, want outcome.ErrSuperseded", err)
		}
		stale.PlanHash = ""
		o.publish(wire.AddonPublishInput{Addon: to, Status: stale})
	})
	another := fullStatus(5)
	another.Sync.Pre = 2
	for name, s := range map[string]wire.AddonStatus{
		"an older status is superseded":                 fullStatus(4),
		"another status of the same sequence, too":      another,
		"and one of an object that is gone":             fullStatus(6),
		"also if its sequence is that of the one there": fullStatus(5),
	} {
		t.Run(name, func(t *testing.T) {
			to := ref
			if s.Sequence == 6 || strings.HasPrefix(name, "also") {
				to.UID = "gone"
			}
			if err := o.Publish(t.Context(), wire.AddonPublishInput{Addon: to, Status: s}); !errors.Is(err, outcome.ErrSuperseded) {
				t.Errorf("error = %v, want outcome.ErrSuperseded", err)
			}
		})
	}
	t.Run("a long message is the same the second time", func(t *testing.T) {
		in := wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 7, Phase: "Error", Message: strings.Repeat("<ä>", 5000)}}
		o.publish(in)
		o.publish(in)
	})
	t.Run("the last runs and syncs stay", func(t *testing.T) {
		for i := range 30 {
			in.Status = wire.AddonStatus{Sequence: int64(i) + 8, Phase: "Error"}
			in.Ran[0].Message, in.Ended.Message = fmt.Sprint(i), fmt.Sprint(i)
			o.publish(in)
		}
		s := o.read(ref).Status
		if len(s.HookRuns) != 20 || s.HookRuns[0].Message != "10" || len(s.History) != 10 || s.History[9].Message != "29" {
			t.Errorf("runs: %v, history: %v", s.HookRuns, s.History)
		}
	})
}

func TestPublishKeepsThePlanThatARequestSaw(t *testing.T) {
	o := newOffice(t)
	ref := o.create("asked")
	status := func(sequence, generation int64, plan string) wire.AddonPublishInput {
		return wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{
			Sequence: sequence, Phase: "OutOfSync", ObservedGeneration: generation, PlanHash: plan,
		}}
	}
	before := o.read(ref)
	o.publish(status(1, before.Generation, "seen"))
	asked := o.read(ref)
	asked.Spec.SyncRequest = 1
	if err := o.Client.Update(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	o.publish(status(2, before.Generation, "seen"))
	if err := o.Publish(t.Context(), status(3, before.Generation, "other")); !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("error = %v, want outcome.ErrSuperseded", err)
	}
	if got := o.read(ref).Status.Plan.Hash; got != "seen" {
		t.Errorf("the status shows plan %s", got)
	}
	o.publish(status(3, asked.Generation, "other")) // its claim has seen the request
}

// TestPublishesAtOnce: whoever is told that it published has, once, and nobody else.
func TestPublishesAtOnce(t *testing.T) {
	o := newOffice(t)
	race := func(t *testing.T, ref wire.AddonRef, statuses []wire.AddonStatus) []error {
		t.Helper()
		ends := make([]error, len(statuses))
		var all sync.WaitGroup
		for i, s := range statuses {
			all.Go(func() {
				in := wire.AddonPublishInput{Addon: ref, Status: s, Ran: []wire.AddonHookRun{{Event: "pre-install", Kind: "Job", Name: s.Message, At: o.Now()}}}
				for ends[i] = errConflict; apierrors.IsConflict(ends[i]); { // as Temporal tries again
					ends[i] = o.Publish(context.WithoutCancel(t.Context()), in)
				}
			})
		}
		all.Wait()
		return ends
	}
	t.Run("100 sequences", func(t *testing.T) {
		ref := o.create("sequences")
		var statuses []wire.AddonStatus
		for i := range 100 {
			statuses = append(statuses, wire.AddonStatus{Sequence: int64(i) + 1, Phase: "Syncing", Message: fmt.Sprint("status-", i+1)})
		}
		var want []string
		for i, err := range race(t, ref, statuses) {
			switch {
			case err == nil:
				want = append(want, statuses[i].Message)
			case !errors.Is(err, outcome.ErrSuperseded):
				t.Errorf("status %d: %v", i+1, err)
			}
		}
		s := o.read(ref).Status
		var got []string
		for _, r := range s.HookRuns {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(want[max(0, len(want)-20):], got); diff != "" || s.Sequence != 100 {
			t.Errorf("sequence %d, runs (-want +got):\n%s", s.Sequence, diff)
		}
	})
	t.Run("one sequence of 20 writers", func(t *testing.T) {
		ref := o.create("one-sequence")
		var statuses []wire.AddonStatus
		for i := range 20 {
			statuses = append(statuses, wire.AddonStatus{Sequence: 1, Phase: "Syncing", Message: fmt.Sprint("writer-", i)})
		}
		var won []string
		for i, err := range race(t, ref, statuses) {
			if err == nil {
				won = append(won, statuses[i].Message)
			} else if !errors.Is(err, outcome.ErrSuperseded) {
				t.Errorf("writer %d: %v", i, err)
			}
		}
		if diff := cmp.Diff([]string{o.read(ref).Status.Message}, won); diff != "" {
			t.Errorf("winners (-stored +told):\n%s", diff)
		}
	})
}

var errConflict = apierrors.NewConflict(addons.GroupVersion.WithResource("addons").GroupResource(), "", nil)

func TestReady(t *testing.T) {
	o := newOffice(t)
	ref := o.create("ready")
	start := o.Now()
	for i, step := range []struct {
		phase, health, message string
		want                   metav1.Condition
	}{
		{"Syncing", "", "on its way", metav1.Condition{Status: "False", Reason: "Syncing", Message: "on its way", LastTransitionTime: metav1.NewTime(start)}},
		{"Synced", "", "", metav1.Condition{Status: "False", Reason: "Unknown", LastTransitionTime: metav1.NewTime(start)}},
		{"Synced", "Healthy", "", metav1.Condition{Status: "True", Reason: "Synced", LastTransitionTime: metav1.NewTime(start.Add(2 * time.Minute))}},
		{"Synced", "Healthy", "again", metav1.Condition{Status: "True", Reason: "Synced", Message: "again", LastTransitionTime: metav1.NewTime(start.Add(2 * time.Minute))}},
		{"Synced", "Degraded", "again", metav1.Condition{Status: "False", Reason: "Degraded", Message: "of Degraded", LastTransitionTime: metav1.NewTime(start.Add(4 * time.Minute))}},
		{"Error", "Healthy", "no", metav1.Condition{Status: "False", Reason: "Error", Message: "no", LastTransitionTime: metav1.NewTime(start.Add(4 * time.Minute))}},
	} {
		o.now.SetTime(start.Add(time.Duration(i) * time.Minute))
		health := wire.AddonHealth{Status: step.health, Message: "of " + step.health}
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{
			Sequence: int64(i) + 1, Phase: step.phase, Message: step.message, ObservedGeneration: 1, Health: health,
		}})
		step.want.Type, step.want.ObservedGeneration = addons.ConditionReady, 1
		if diff := cmp.Diff([]metav1.Condition{step.want}, o.read(ref).Status.Conditions); diff != "" {
			t.Errorf("%s, %s: conditions (-want +got):\n%s", step.phase, step.health, diff)
		}
	}
}

// TestNoSecretIsPublished: renders and plans have secrets, and a status shows of them what
// is masked.
func TestNoSecretIsPublished(t *testing.T) {
	o := newOffice(t)
	ref := o.create("secretive")
	render := o.rendered(ref, "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: default}\nstringData: {password: "+canary+"}\n", map[string]manifest.Event{"hook": manifest.PreInstall})
	o.publish(wire.AddonPublishInput{Addon: ref, Render: render, Status: wire.AddonStatus{Sequence: 1, Phase: "Synced", Sets: wire.AddonSets{Render: render}}})
	a := o.read(ref)
	if len(a.Status.Hooks) != 1 {
		t.Errorf("hooks: %v", a.Status.Hooks)
	}
	if strings.Contains(asJSON(t, a), canary) || strings.Contains(asJSON(t, o.claim(ref)), canary) {
		t.Error("the canary is out")
	}
}
