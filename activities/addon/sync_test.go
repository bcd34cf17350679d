package addon_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestFirstSyncAndAResyncThatWritesNothing(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"), configMap("b", "red"))
	p := w.preview()
	want := wire.AddonPreview{
		Revision: "shop-1.0.0", Hash: p.Hash, Render: p.Render, Plan: p.Plan, Inventory: p.Inventory, PlanHash: p.PlanHash,
		Counts: wire.AddonCounts{Create: 2}, Writes: 2, Lifecycle: "install",
		Summary: "create ConfigMap " + w.ns + "/a, create ConfigMap " + w.ns + "/b",
	}
	if diff := cmp.Diff(want, p); diff != "" || p.Plan == "" || p.PlanHash == "" || p.Inventory == "" {
		t.Fatalf("preview (-want +got):\n%s", diff)
	}
	w.begin(p)
	done := w.apply(p, wire.PartAll)
	if diff := cmp.Diff(wire.AddonApplied{Inventory: done.Inventory, Written: 2, Health: wire.AddonHealth{Status: "Healthy"}}, done); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	w.end(p, done)
	w.writes.Store(0)
	again := w.preview()
	want = wire.AddonPreview{
		Revision: "shop-1.0.0", Hash: p.Hash, Render: p.Render, Counts: wire.AddonCounts{Unchanged: 2},
		Health: wire.AddonHealth{Status: "Healthy"},
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("second preview (-want +got):\n%s", diff)
	}
	if n := w.writes.Load(); n != 0 {
		t.Errorf("a look that finds nothing to do made %d writes", n)
	}
}

func TestApplyTwiceWritesOnce(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	p := w.preview()
	w.begin(p)
	first, second := w.apply(p, wire.PartAll), w.apply(p, wire.PartAll)
	if first.Written != 1 || second.Written != 0 || first.Inventory != second.Inventory {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestPruneDeletesWhatTheSourceHasNoMore(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, configMap("a", "blue"), configMap("b", "red"))
	w.synced()
	w.source.all = w.source.all[:1]
	p, done := w.synced()
	if p.Counts.Prune != 1 || done.Deleted != 1 || w.live(configMap("b", "")) != nil || w.live(configMap("a", "")) == nil {
		t.Errorf("preview %+v, applied %+v", p, done)
	}
	if after := w.preview(); after.Writes != 0 || after.Inventory != "" {
		t.Errorf("after it %+v", after)
	}
}

func TestWhatAnotherAddonTookIsNotDeleted(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, configMap("a", "blue"), configMap("b", "red"))
	w.synced()
	w.source.all = w.source.all[:1]
	w.patch(configMap("b", ""), `{"metadata":{"labels":{"`+addons.LabelAddon+`":"other"}}}`)
	p := w.preview()
	if p.Writes != 0 || p.Inventory == "" {
		t.Fatalf("preview %+v", p)
	}
	inventory, err := w.Store.Inventory(t.Context(), setstore.Digest(p.Inventory))
	w.must(err)
	if len(inventory) != 1 || inventory[0].ID.Name != "a" || w.live(configMap("b", "")) == nil {
		t.Errorf("the inventory is %v", inventory)
	}
}

func TestCrashAfterTheUnionOrphansNothing(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, configMap("a", "blue"))
	w.synced()
	w.source.all = append(w.source.all, configMap("b", "red"))
	p := w.preview()
	w.begin(p)
	w.apply(p, wire.PartAll) // and nobody hears of it
	w.source.all = w.source.all[:1]
	p, done := w.synced()
	if done.Deleted != 1 || w.live(configMap("b", "")) != nil {
		t.Errorf("preview %+v, applied %+v", p, done)
	}
}

func TestCrashInAnAdoptionLeavesItOne(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Adopt: true}, configMap("a", "blue"))
	w.make(configMap("a", "green"))
	before := w.preview()
	want := "taking over changes ConfigMap " + w.ns + "/a: set allowAdoptChanges, or change the values until nothing differs"
	if before.Adopts != want || before.Lifecycle != "" {
		t.Errorf("preview %+v", before)
	}
	w.begin(before)
	if after := w.preview(); after.Adopts != before.Adopts || after.PlanHash != before.PlanHash {
		t.Errorf("after a crash %+v", after)
	}
}

func TestBlockedSaysWhoAndWhatToDo(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	w.make(configMap("a", "blue"))
	w.patch(configMap("a", ""), `{"metadata":{"annotations":{"meta.helm.sh/release-name":"old","meta.helm.sh/release-namespace":"x"}}}`)
	want := "ConfigMap " + w.ns + "/a: it belongs to the Helm release x/old: set adopt to take it over"
	if p := w.preview(); p.Blocked != want || p.Plan == "" {
		t.Errorf("preview %+v", p)
	}
}

func TestPartialDiscoveryBlocksPruning(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, configMap("a", "blue"), configMap("b", "red"))
	w.synced()
	w.source.all, w.source.partial = w.source.all[:1], "the API server cannot tell what it has of x.test/v1"
	if p := w.preview(); !strings.Contains(p.Blocked, "x.test/v1") || !strings.Contains(p.Blocked, "/b") {
		t.Errorf("preview %+v", p)
	}
}

func TestWhatMovedIsNotWritten(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	w.synced()
	w.source.all = []string{configMap("a", "red")}
	p := w.preview()
	w.patch(configMap("a", ""), `{"data":{"color":"black"}}`)
	w.writes.Store(0)
	done := w.apply(p, wire.PartAll)
	if !strings.Contains(done.Moved, "ConfigMap "+w.ns+"/a") || done.Failed != "" || done.Inventory != "" || w.writes.Load() != 0 {
		t.Errorf("applied %+v with %d writes", done, w.writes.Load())
	}
	if got, _, _ := unstructured.NestedString(w.live(configMap("a", "")).Object, "data", "color"); got != "black" {
		t.Errorf("the color is %s", got)
	}
}

func TestDefinitionsComeBeforeWhatTheyDefine(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, "", "")
	w.source.all = []string{w.definition("Gadget"), w.gadget("Gadget", "g")}
	p := w.preview()
	if p.Counts.Create != 2 || p.Counts.Unverified != 1 {
		t.Fatalf("preview %+v", p)
	}
	w.begin(p)
	early := w.apply(p, wire.PartEarly)
	if !early.Defined || early.Written != 1 || early.Inventory != "" {
		t.Fatalf("early %+v", early)
	}
	rest := w.apply(p, wire.PartRest)
	w.end(p, rest)
	if rest.Written != 1 || w.live(w.gadget("Gadget", "g")) == nil {
		t.Errorf("rest %+v", rest)
	}
	if after := w.preview(); after.Writes != 0 || after.Inventory != "" {
		t.Errorf("after it %+v", after)
	}
}

func TestPreviewOfAnOlderGenerationIsSuperseded(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	_, err := w.Preview(t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: 7})
	if !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("the error is %v", err)
	}
}

func TestASuspendedAddOnIsNotWorkedOn(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	p := w.preview()
	w.begin(p)
	w.spec(func(s *addons.AddonSpec) { s.Suspend = true })
	for name, work := range map[string]func() error{
		"preview": func() error {
			_, err := w.Preview(t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: w.object().Generation})
			return err
		},
		"apply": func() error {
			_, err := w.Apply(t.Context(), wire.AddonApplyInput{Addon: w.ref, Plan: p.Plan, Part: wire.PartAll})
			return err
		},
		"hook": func() error {
			_, err := w.RunHook(t.Context(), wire.AddonHookInput{Addon: w.ref, Render: p.Render, Event: "pre-install", Run: "1", Timeout: time.Minute})
			return err
		},
	} {
		if err := work(); !errors.Is(err, outcome.ErrSuperseded) {
			t.Errorf("%s of a suspended add-on: %v", name, err)
		}
	}
	if w.live(configMap("a", "blue")) != nil {
		t.Error("it was applied")
	}
}

func TestLostSets(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	lost := strings.Repeat("0", 52)
	_, err := w.Apply(t.Context(), wire.AddonApplyInput{Addon: w.ref, Plan: lost, Part: wire.PartAll})
	if !errors.Is(err, outcome.ErrLost) {
		t.Errorf("without its plan, apply says %v", err)
	}
	w.status(func(s *addons.AddonStatus) { s.Sets.Plan, s.Sets.Render = lost, lost })
	if p := w.preview(); p.Writes != 1 {
		t.Errorf("without plan and render, preview is %+v", p)
	}
	w.status(func(s *addons.AddonStatus) { s.Sets.Inventory = lost })
	_, err = w.Preview(t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: w.object().Generation})
	if !errors.Is(err, outcome.ErrPermanent) || !strings.Contains(err.Error(), "restore its Secret") {
		t.Errorf("without its inventory, preview says %v", err)
	}
}

func TestEmptyRenderPrunesNothing(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{Prune: true}, configMap("a", "blue"))
	w.synced()
	w.source.all = nil
	_, err := w.Preview(t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: w.object().Generation})
	if !errors.Is(err, outcome.ErrPermanent) || !strings.Contains(err.Error(), "renders no object") {
		t.Errorf("the error is %v", err)
	}
}

func TestAnotherRenderOfTheSameObjectsIsKept(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"))
	first, _ := w.synced()
	w.source.all = append(w.source.all, "# a comment\n")
	w.spec(func(s *addons.AddonSpec) { s.SkipHooks = true })
	second := w.preview()
	if second.Render == first.Render || second.Hash == first.Hash || second.Plan != "" || second.Writes != 0 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if r, err := w.Store.Render(t.Context(), setstore.Digest(second.Render)); err != nil || r.Content != second.Hash {
		t.Errorf("the render is %+v, %v", r, err)
	}
}

func TestPlanThatWaitsIsStoredOnce(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{ManualSync: true}, configMap("a", "blue"))
	first := w.preview()
	w.status(func(s *addons.AddonStatus) { s.Sets.Plan, s.Sets.Inventory = first.Plan, first.Inventory })
	second := w.preview() // of another inventory
	if second.PlanHash != first.PlanHash || second.Inventory != first.Inventory {
		t.Fatalf("first %+v, second %+v", first, second)
	}
	w.status(func(s *addons.AddonStatus) { s.Sets.Plan = second.Plan })
	w.writes.Store(0)
	third := w.preview()
	if diff := cmp.Diff(second, third); diff != "" || w.writes.Load() != 0 {
		t.Errorf("%d writes; second and third preview (-second +third):\n%s", w.writes.Load(), diff)
	}
}
