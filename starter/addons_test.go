package starter_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func (w *world) createAddon(name string, change ...func(*addons.Addon)) *addons.Addon {
	w.t.Helper()
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       addons.AddonSpec{Namespace: w.namespace, Source: addons.AddonSource{Git: &addons.GitSource{Repo: "a/b", Path: "web"}}},
	}
	for _, c := range change {
		c(a)
	}
	if err := w.client.Create(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx := context.WithoutCancel(w.t.Context())
		if w.client.Get(ctx, client.ObjectKeyFromObject(a), a) != nil {
			return // it is gone
		}
		a.Finalizers = nil
		if err := w.client.Update(ctx, a); err != nil {
			w.t.Error(err)
		}
		if err := client.IgnoreNotFound(w.client.Delete(ctx, a)); err != nil {
			w.t.Error(err)
		}
	})
	return a
}

// observeAddon makes the status speak of all inputs, as the workflow would.
func (w *world) observeAddon(a *addons.Addon, ready map[string]bool, change ...func(*addons.AddonStatus)) {
	w.t.Helper()
	a.Status.ObservedInputs, a.Status.ObservedGeneration = a.Inputs(ready), a.Generation
	a.Status.Sequence++
	for _, c := range change {
		c(&a.Status)
	}
	if err := w.client.Status().Update(w.t.Context(), a); err != nil {
		w.t.Fatal(err)
	}
}

// synced is the status of an add-on that works.
func synced(s *addons.AddonStatus) {
	s.Phase = addons.PhaseSynced
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: addons.ConditionReady, Status: metav1.ConditionTrue, Reason: "Synced"})
}

func dependsOn(names ...string) func(*addons.Addon) {
	return func(a *addons.Addon) {
		for _, name := range names {
			a.Spec.DependsOn = append(a.Spec.DependsOn, addons.Dependency{Name: name})
		}
	}
}

func TestStarterOfAddOns(t *testing.T) {
	w := newWorld(t)
	stop := w.run()
	defer func() { stop() }()
	// By the time that a new one is seen, all that was before it was seen too.
	seenAll := func(marker string) {
		t.Helper()
		w.signalled("marker", w.createAddon(marker), 1)
	}
	t.Run("a new one starts its workflow, and an edit is signalled", func(t *testing.T) {
		a := w.createAddon("starter-new")
		w.signalled("new object", a, 1)
		d, err := w.temporal.DescribeWorkflow(t.Context(), workflowOf(a), "")
		if err != nil {
			t.Fatal(err)
		}
		info := d.RawResponse.GetWorkflowExecutionInfo()
		got := []string{
			info.GetType().GetName(), info.GetTaskQueue(), string(info.GetMemo().GetFields()[wire.MemoTitle].GetData()),
			string(info.GetSearchAttributes().GetIndexedFields()[wire.KeyAddonPhase.GetName()].GetData()),
			string(info.GetSearchAttributes().GetIndexedFields()[wire.KeyKubeName.GetName()].GetData()),
		}
		want := []string{"Addon", "fairlead-addons", `"Add-on starter-new"`, `"Pending"`, `"starter-new"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the workflow (-want +got):\n%s", diff)
		}
		w.observeAddon(a, nil)
		a.Spec.SyncRequest = 1
		if err := w.client.Update(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		w.signalled("edit", a, 2)
	})
	t.Run("one is looked at when what it depends on becomes ready, or is gone", func(t *testing.T) {
		user := w.createAddon("starter-user", dependsOn("starter-base", "starter-never"))
		w.signalled("new object", user, 1)
		w.observeAddon(user, nil)
		base := w.createAddon("starter-base")
		w.signalled("new object", base, 1)
		w.observeAddon(base, nil)
		seenAll("starter-marker-1")
		if got := w.signals(user); got != 1 {
			t.Errorf("%d signals while nothing is ready, want 1", got)
		}

		w.observeAddon(base, nil, synced)
		w.signalled("the dependency is ready", user, 2)
		w.observeAddon(user, map[string]bool{"starter-base": true})
		w.observeAddon(base, nil, func(s *addons.AddonStatus) { s.Message = "still so" })
		seenAll("starter-marker-2")
		if got := w.signals(user); got != 2 {
			t.Errorf("%d signals after a status that changes nothing for it, want 2", got)
		}

		if err := w.client.Delete(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		w.signalled("the dependency is gone", user, 3)
		w.signalled("its own workflow is told", base, 2)
	})
	t.Run("one that only others hold back starts no workflow, and wakes one that runs", func(t *testing.T) {
		held := w.createAddon("starter-held", func(a *addons.Addon) { a.Finalizers = []string{"example.com/hold"} })
		w.signalled("new object", held, 1)
		stop()
		unknown := w.createAddon("starter-unknown", func(a *addons.Addon) { a.Finalizers = []string{"example.com/hold"} })
		for _, a := range []*addons.Addon{held, unknown} {
			if err := w.client.Delete(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		stop = w.run()
		w.signalled("the deletion", held, 2)
		seenAll("starter-marker-3")
		if got := w.signals(unknown); got != -1 {
			t.Errorf("the workflow of the other one has %d signals, want none to be there", got)
		}
	})
}
