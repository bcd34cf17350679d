package addon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/api/addons/approve"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestClaim(t *testing.T) {
	o := newOffice(t)
	t.Run("what the object says, and the finalizer on it", func(t *testing.T) {
		ref := o.create("whole")
		o.edit(ref, func(a *addons.Addon) {
			a.Spec.ManualSync, a.Spec.AllowAdoptChanges, a.Spec.Suspend = true, true, true
			a.Spec.Approve, a.Spec.SyncRequest, a.Spec.HookTimeout = strings.Repeat("a", 20), 3, 30
		})
		c := o.claim(ref)
		want := wire.AddonClaim{
			Generation: 2, Suspended: true, ManualSync: true, AllowAdoptChanges: true, Approve: strings.Repeat("a", 20),
			SyncRequest: 3, Approver: wire.Approver{Name: "owner"}, HookTimeout: 30 * time.Second,
		}
		if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(wire.AddonClaim{}, "Inputs")); diff != "" {
			t.Errorf("claim (-want +got):\n%s", diff)
		}
		a := o.read(ref)
		if diff := cmp.Diff([]string{addons.Finalizer}, a.Finalizers); diff != "" {
			t.Errorf("finalizers (-want +got):\n%s", diff)
		}
		if c.Inputs != a.Inputs(nil) {
			t.Errorf("inputs %s, the object has %s", c.Inputs, a.Inputs(nil))
		}
		o.claim(ref)
		if again := o.read(ref); again.ResourceVersion != a.ResourceVersion {
			t.Error("a second claim writes the object")
		}
	})
	t.Run("an object that is already being deleted gets no finalizer", func(t *testing.T) {
		ref := o.create("going", "nobody")
		o.edit(ref, func(a *addons.Addon) { a.Finalizers = []string{"example.com/other"} })
		o.delete(ref)
		if c := o.claim(ref); !c.Deleting || c.Uninstall || c.Waits != "" || c.Inputs != o.read(ref).Inputs(nil) {
			t.Errorf("claim = %+v", c)
		}
		if diff := cmp.Diff([]string{"example.com/other"}, o.read(ref).Finalizers); diff != "" {
			t.Errorf("finalizers (-want +got):\n%s", diff)
		}
	})
	t.Run("another object of the same name is another add-on", func(t *testing.T) {
		ref := o.create("twin")
		ref.UID = "other"
		if c := o.claim(ref); !c.Gone {
			t.Errorf("claim = %+v", c)
		}
		if got := o.read(ref).Finalizers; len(got) > 0 {
			t.Errorf("it gets the finalizers %v", got)
		}
	})
	t.Run("who approved, with the signature of the HTTP API", func(t *testing.T) {
		ref := o.create("signed")
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 1, Phase: "OutOfSync", PlanHash: strings.Repeat("b", 20)}})
		if _, err := approve.Ask(t.Context(), o.Client, ref.Name, ref.UID, approve.Request{Who: "alice", Sign: o.Store.Hash}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wire.Approver{Name: "alice", Verified: true}, o.claim(ref).Approver); diff != "" {
			t.Errorf("approver (-want +got):\n%s", diff)
		}
	})
}

func TestDependencies(t *testing.T) {
	o := newOffice(t)
	status := func(ref wire.AddonRef, phase addons.Phase, health addons.HealthStatus) {
		t.Helper()
		a := o.read(ref)
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{
			Sequence: a.Status.Sequence + 1, Phase: string(phase), ObservedGeneration: a.Generation, Health: wire.AddonHealth{Status: string(health)},
		}})
	}
	full := func(words string) string { return strings.ReplaceAll(words, "%", o.System+"-") }
	db := o.create("db")
	web := o.create("web", "db", "dns")
	claimed := func(want string) wire.AddonClaim {
		t.Helper()
		c := o.claim(web)
		if c.Waits != full(want) || c.Problem != "" {
			t.Errorf("waits: %q, problem: %q, want %q", c.Waits, c.Problem, full(want))
		}
		return c
	}
	first := claimed("waits for %db, which is Pending; %dns, which does not exist")
	dns := o.create("dns")
	status(dns, addons.PhaseSynced, addons.HealthHealthy)
	status(db, addons.PhaseSyncing, addons.HealthHealthy)
	claimed("waits for %db, which is Syncing")
	status(db, addons.PhaseSynced, addons.HealthDegraded)
	claimed("waits for %db, which is Degraded")
	status(db, addons.PhaseSynced, addons.HealthHealthy)
	ready := claimed("")
	if first.Inputs == ready.Inputs {
		t.Error("what it depends on became ready, and the inputs are the same")
	}
	both := map[string]bool{db.Name: true, dns.Name: true}
	if got := o.read(web).Inputs(both); got != ready.Inputs {
		t.Errorf("inputs %s, by the object %s", ready.Inputs, got)
	}
	o.edit(db, func(a *addons.Addon) { a.Spec.Prune = true })
	claimed("waits for %db, which was changed and is not synced yet")
	o.edit(db, func(a *addons.Addon) { a.Finalizers = []string{"example.com/other"} })
	o.delete(db)
	claimed("waits for %db, which is being deleted")
}

func TestACircleIsAProblemOfThoseInIt(t *testing.T) {
	o := newOffice(t)
	a, b := o.create("a", "b", "d"), o.create("b", "c")
	c, d := o.create("c", "missing", "a"), o.create("d", "b")
	outside := o.create("outside", "a")
	want := func(path string) string {
		return "dependsOn is a circle: " + strings.ReplaceAll(path, "%", o.System+"-") + ": take one out"
	}
	got := []string{o.claim(a).Problem, o.claim(b).Problem, o.claim(c).Problem, o.claim(d).Problem, o.claim(outside).Problem}
	wants := []string{want("%a -> %b -> %c -> %a"), want("%b -> %c -> %a -> %b"), want("%c -> %a -> %b -> %c"), want("%d -> %b -> %c -> %a -> %d"), ""}
	if diff := cmp.Diff(wants, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestHooksOfAnUninstall(t *testing.T) {
	o := newOffice(t)
	// doomed is an add-on that is being uninstalled, and what it was rendered to.
	doomed := func(t *testing.T, name string, hooks map[string]manifest.Event, change func(*addons.Addon)) (wire.AddonRef, string) {
		t.Helper()
		ref := o.create(name)
		o.claim(ref)
		render := o.rendered(ref, "", hooks)
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 1, Phase: "Synced", Sets: wire.AddonSets{Render: render}}})
		o.edit(ref, func(a *addons.Addon) {
			metav1.SetMetaDataAnnotation(&a.ObjectMeta, addons.AnnotationUninstall, "true")
			change(a)
		})
		o.delete(ref)
		return ref, render
	}
	long := strings.Repeat("n", 80)
	some := map[string]manifest.Event{"bye": manifest.PostDelete, long: manifest.PreDelete, "hello": manifest.PreInstall}
	t.Run("those before, then those after", func(t *testing.T) {
		ref, _ := doomed(t, "hooked", some, func(*addons.Addon) {})
		want := []wire.AddonHook{
			{Event: "pre-delete", Kind: "Job", Name: long[:63], Works: true},
			{Event: "post-delete", Kind: "Job", Name: "bye", Works: true},
		}
		c := o.claim(ref)
		if diff := cmp.Diff(want, c.Hooks); diff != "" || !c.Uninstall {
			t.Errorf("uninstall: %v, hooks (-want +got):\n%s", c.Uninstall, diff)
		}
	})
	t.Run("a render that is lost is not one without hooks", func(t *testing.T) {
		ref, render := doomed(t, "lost", nil, func(*addons.Addon) {})
		o.lose(render)
		if c := o.claim(ref); c.Hooks != nil || !strings.Contains(c.Problem, "take the annotation rendimiento.ai/uninstall off") {
			t.Fatalf("the problem is %q", c.Problem)
		}
		o.edit(ref, func(a *addons.Addon) { delete(a.Annotations, addons.AnnotationUninstall) })
		if c := o.claim(ref); c.Uninstall || c.Hooks != nil || c.Problem != "" {
			t.Errorf("without the annotation: %+v", c)
		}
	})
	t.Run("none are run where none are wanted", func(t *testing.T) {
		ref, render := doomed(t, "skipped", some, func(a *addons.Addon) { a.Spec.SkipHooks = true })
		o.lose(render)
		if c := o.claim(ref); c.Hooks != nil {
			t.Errorf("hooks: %v", c.Hooks)
		}
	})
	t.Run("too many", func(t *testing.T) {
		many := map[string]manifest.Event{}
		for i := range look.MaxHooks + 1 {
			many[fmt.Sprint("hook-", i)] = manifest.PreDelete
		}
		ref, _ := doomed(t, "many", many, func(*addons.Addon) {})
		if c := o.claim(ref); c.Hooks != nil || !strings.Contains(c.Problem, "spec.skipHooks") {
			t.Errorf("the problem is %q", c.Problem)
		}
	})
}
