package addon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// item is one of a plan, on a Deployment in apps/v1.
func item(action plan.Action, name, diff, unverified string) plan.Item {
	i := plan.Item{Version: "v1", Action: action, Hash: "h", Diff: diff, Unverified: unverified}
	i.ID.Group, i.ID.Kind, i.ID.Namespace, i.ID.Name = "apps", "Deployment", "default", name
	return i
}

func deployment(name string) addons.ObjectRef {
	return addons.ObjectRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "default", Name: name}
}

func TestAPlanIsShown(t *testing.T) {
	o := newOffice(t)
	ref := o.create("planned")
	render := o.rendered(ref, "", map[string]manifest.Event{"migrate": manifest.PreUpgrade, "hello": manifest.PostInstall})
	digest := o.planned(ref, render,
		item(plan.Create, "new", "+new", "its namespace is new"), item(plan.Update, "old", "-a\n+b", ""), item(plan.Replace, "fixed", "-c\n+d", ""),
		item(plan.Prune, "gone", "", ""), item(plan.Unchanged, "same", "", ""), item(plan.Keep, "kept", "", ""))
	status := wire.AddonStatus{
		Sequence: 1, Phase: "OutOfSync", PlanHash: "plan", Counts: wire.AddonCounts{Create: 1, Update: 1, Replace: 1, Prune: 1, Unchanged: 1, Unverified: 1},
		Sets: wire.AddonSets{Plan: digest},
	}
	in := wire.AddonPublishInput{Addon: ref, Status: status, Render: render}
	o.publish(in)
	want := addons.AddonStatus{
		Plan: &addons.Plan{
			Hash: "plan", Create: 1, Update: 1, Replace: 1, Prune: 1, Unchanged: 1, Unverified: 1,
			Items: []addons.PlanItem{
				{ObjectRef: deployment("new"), Action: "create", Unverified: "its namespace is new"}, {ObjectRef: deployment("old"), Action: "update"},
				{ObjectRef: deployment("fixed"), Action: "replace"}, {ObjectRef: deployment("gone"), Action: "prune"},
			},
		},
		Preview: &addons.Preview{
			Create: 1, Update: 2, Prune: 1, Unchanged: 1,
			Items: []addons.PreviewItem{
				{ObjectRef: deployment("new"), Action: "create", Diff: "+new"}, {ObjectRef: deployment("old"), Action: "update", Diff: "-a\n+b"},
				{ObjectRef: deployment("fixed"), Action: "update", Diff: "-c\n+d"}, {ObjectRef: deployment("gone"), Action: "prune"},
			},
		},
		Hooks: []addons.HookRef{
			{Name: "hello", Kind: "Job", Events: []string{"post-install"}}, {Name: "migrate", Kind: "Job", Events: []string{"pre-upgrade"}},
		},
	}
	shown := func() addons.AddonStatus {
		s := o.read(ref).Status
		return addons.AddonStatus{Plan: s.Plan, Preview: s.Preview, Hooks: s.Hooks, Message: s.Message}
	}
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}

	// What is shown of the same sets is not read again, so that it stays.
	o.lose(digest)
	o.lose(render)
	in.Status.Sequence = 2
	o.publish(in)
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("shown again (-want +got):\n%s", diff)
	}
}

func TestALostPlanIsTold(t *testing.T) {
	o := newOffice(t)
	ref := o.create("lost")
	render := o.rendered(ref, "", nil)
	digest := o.planned(ref, render, item(plan.Create, "new", "+new", ""))
	o.lose(digest)
	in := wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{
		Sequence: 1, Phase: "OutOfSync", Message: "wants approval", PlanHash: "plan", Counts: wire.AddonCounts{Create: 1}, Sets: wire.AddonSets{Plan: digest},
	}}
	for range 2 { // it is the same status the second time, too
		o.publish(in)
	}
	s := o.read(ref).Status
	if want := "wants approval (not shown, for the set store has lost it: what the plan would change)"; s.Message != want {
		t.Errorf("message %q, want %q", s.Message, want)
	}
	if s.Plan.Create != 1 || s.Plan.Items != nil {
		t.Errorf("plan: %+v", s.Plan)
	}
	if diff := cmp.Diff(in.Status, o.claim(ref).Stored); diff != "" {
		t.Errorf("status (-published +claimed):\n%s", diff)
	}
	if again := o.planned(ref, render, item(plan.Create, "new", "+new", "")); again != digest {
		t.Fatal("the same plan has another digest")
	}
	in.Status.Sequence = 2
	o.publish(in)
	if s := o.read(ref).Status; s.Message != "wants approval" || len(s.Plan.Items) != 1 {
		t.Errorf("when it is there again: %q, %+v", s.Message, s.Plan)
	}
}

func TestObjectsAreShown(t *testing.T) {
	o := newOffice(t)
	ref := o.create("objects")
	render := o.rendered(ref, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n", nil)
	var one plan.Owned
	one.ID = item(plan.Create, "web", "", "").ID
	d, err := o.Store.PutInventory(t.Context(), ref.Name, kept.Inventory{one})
	o.must(err)
	publish := func(sequence int64, inventory string) addons.AddonStatus {
		t.Helper()
		o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{
			Sequence: sequence, Phase: "Synced", Sets: wire.AddonSets{Render: render, Inventory: inventory},
		}})
		return o.read(ref).Status
	}
	s := publish(1, string(d))
	if diff := cmp.Diff([]addons.ObjectRef{deployment("web")}, s.Objects); diff != "" || s.ObjectsTotal != 1 {
		t.Errorf("%d objects (-want +got):\n%s", s.ObjectsTotal, diff)
	}
	s = publish(2, o.inventory(ref, 2000))
	if s.ObjectsTotal != 2000 || len(s.Objects) < 100 || len(s.Objects) > 500 {
		t.Errorf("%d of %d objects are shown", len(s.Objects), s.ObjectsTotal)
	}
	if s = publish(3, ""); s.ObjectsTotal != 0 || s.Objects != nil {
		t.Errorf("%d objects without an inventory", s.ObjectsTotal)
	}
}

func TestAStatusIsSmall(t *testing.T) {
	o := newOffice(t)
	ref := o.create("large")
	var items []plan.Item
	hooks := map[string]manifest.Event{}
	in := wire.AddonPublishInput{Addon: ref, Status: fullStatus(1)}
	for i := range 2000 {
		items = append(items, item(plan.Update, fmt.Sprint(strings.Repeat("n", 200), i), strings.Repeat("<\n", 2000), strings.Repeat("\"", 600)))
		hooks[fmt.Sprint(strings.Repeat("h", 200), i)] = manifest.PreInstall
		in.Ran = append(in.Ran, wire.AddonHookRun{Event: "pre-install", Kind: "Job", Name: "hook", Failed: true, Message: strings.Repeat("\x01", 4000), At: o.Now()})
	}
	in.Render = o.rendered(ref, "", hooks)
	in.Status.Message = strings.Repeat("&", 60<<10)
	in.Status.Sets = wire.AddonSets{Plan: o.planned(ref, in.Render, items...), Inventory: o.inventory(ref, 2000)}
	o.publish(in)
	s := o.read(ref).Status
	if size := len(asJSON(t, s)); size > addons.MaxStatusBytes || size > 256<<10 {
		t.Errorf("it has %d bytes", size)
	}
	if len(s.Plan.Items) == 0 || len(s.Preview.Items) == 0 || len(s.Hooks) == 0 || len(s.HookRuns) == 0 || len(s.Objects) == 0 {
		t.Error("a list is empty")
	}
	o.publish(in)
}

func TestOldSetsGoWhenOthersCome(t *testing.T) {
	o := newOffice(t)
	ref := o.create("evicted")
	applied, planned := o.rendered(ref, "", map[string]manifest.Event{"a": manifest.PreInstall}), o.rendered(ref, "", nil)
	sets := wire.AddonSets{Render: applied, Plan: o.planned(ref, planned), Inventory: o.inventory(ref, 1)}
	var old []string
	for i := range 15 {
		o.now.SetTime(o.Now().Add(time.Minute))
		old = append(old, o.inventory(ref, i+2))
	}
	o.now.SetTime(o.Now().Add(time.Hour))
	left := func() (left int) {
		for _, d := range old {
			if _, err := o.Store.Inventory(t.Context(), setstore.Digest(d)); err == nil {
				left++
			}
		}
		return left
	}
	o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 1, Phase: "OutOfSync"}})
	if got := left(); got != 15 {
		t.Errorf("%d of 15 old sets are left by a status of the same sets", got)
	}
	o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 2, Phase: "OutOfSync", Sets: sets}})
	if got := left(); got != 6 { // ten in all
		t.Errorf("%d old sets are left, want 6", got)
	}
	for _, render := range []string{applied, planned} {
		if _, err := o.Store.Render(t.Context(), setstore.Digest(render)); err != nil {
			t.Error(err)
		}
	}
	if _, err := o.Store.Plan(t.Context(), setstore.Digest(sets.Plan)); err != nil {
		t.Error(err)
	}
	if _, err := o.Store.Inventory(t.Context(), setstore.Digest(sets.Inventory)); err != nil {
		t.Error(err)
	}
}
