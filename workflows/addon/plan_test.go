package addon

import (
	"testing"
	"time"

	"example.com/fairlead/temporal/wire"
)

// world is a state and a claim. It starts as a new object whose source would make four
// objects.
type world struct {
	State           `json:"-"`
	wire.AddonClaim `json:"-"`
}

func aNewAddon() *world {
	w := &world{AddonClaim: wire.AddonClaim{Generation: 1, Inputs: "in1"}}
	w.Version = Version
	w.Work.Preview = &wire.AddonPreview{
		Hash: "v1", Render: "r1", Plan: "p1", PlanHash: "hash1", Inventory: "i1", Writes: 4, Counts: wire.AddonCounts{Create: 4},
		Lifecycle: wire.LifecycleInstall, Summary: "create four",
	}
	return w
}

// syncing has the sync of the preview told to the object.
func (w *world) syncing() *world {
	w.Sync = &wire.AddonSync{ID: "s", Lifecycle: w.Work.Preview.Lifecycle, Hash: "v1", PlanHash: "hash1"}
	w.State.Stored = wire.AddonStatus{
		Sequence: 3, Phase: wire.AddonSyncing, PlanHash: "hash1", ObservedGeneration: 1, ObservedInputs: "in1",
		Sets: wire.AddonSets{Plan: "p1", Inventory: "i1"}, Sync: w.Sync,
	}
	return w
}

func (w *world) with(change func(*world)) *world {
	change(w)
	return w
}

// done has nothing to do, as far as the preview says.
func (w *world) done() *world {
	p := w.Work.Preview
	p.Writes, p.Counts, p.Plan, p.PlanHash, p.Inventory = 0, wire.AddonCounts{Unchanged: 4}, "", "", ""
	p.Lifecycle, p.Hooks = "", nil
	return w
}

func TestNext(t *testing.T) {
	for name, test := range map[string]struct {
		world *world
		kind  StepKind
		// phase that is published, or part that is applied, or event of a hook.
		what string
	}{
		"a vanished object ends it":               {aNewAddon().with(func(w *world) { w.Gone = true }), End, ""},
		"a deletion releases":                     {aNewAddon().with(func(w *world) { w.Deleting = true }), Release, ""},
		"an uninstall begins":                     {aNewAddon().with(func(w *world) { w.Deleting, w.Uninstall = true, true }), Begin, ""},
		"and ends the sync under way":             {aNewAddon().syncing().with(func(w *world) { w.Deleting, w.Uninstall = true, true }), Begin, ""},
		"a suspension is told":                    {aNewAddon().with(func(w *world) { w.Suspended = true }), Publish, wire.AddonSuspended},
		"in the middle of a sync too":             {aNewAddon().syncing().with(func(w *world) { w.Suspended = true }), Publish, wire.AddonSuspended},
		"a deletion of a suspended one goes on":   {aNewAddon().with(func(w *world) { w.Suspended, w.Deleting = true, true }), Release, ""},
		"a circle is an error":                    {aNewAddon().with(func(w *world) { w.Problem = "circle" }), Publish, wire.AddonError},
		"dependencies are waited for":             {aNewAddon().with(func(w *world) { w.Waits = "for x" }), Publish, wire.AddonPending},
		"nothing is known yet":                    {aNewAddon().with(func(w *world) { w.Work.Preview = nil }), Preview, ""},
		"what is blocked is told":                 {aNewAddon().with(func(w *world) { w.Work.Preview.Blocked = "x" }), Publish, wire.AddonBlocked},
		"an adoption that changes is blocked":     {aNewAddon().with(func(w *world) { w.Work.Preview.Adopts = "x" }), Publish, wire.AddonBlocked},
		"and if it may, begins":                   {aNewAddon().with(func(w *world) { w.Work.Preview.Adopts, w.AllowAdoptChanges = "x", true }), Begin, ""},
		"also when something moved in the middle": {aNewAddon().syncing().with(func(w *world) { w.Work.Preview.Adopts, w.Work.Preview.PlanHash = "x", "hash2" }), Publish, wire.AddonBlocked},
		"but an approved plan goes on":            {aNewAddon().syncing().with(func(w *world) { w.Work.Preview.Adopts, w.Sync.Approver.Name = "x", "ann" }), Apply, wire.PartAll},
		"a manual one waits":                      {aNewAddon().with(func(w *world) { w.ManualSync = true }), Publish, wire.AddonOutOfSync},
		"another approval is none":                {aNewAddon().with(func(w *world) { w.ManualSync, w.Approve = true, "other" }), Publish, wire.AddonOutOfSync},
		"its approval begins":                     {aNewAddon().with(func(w *world) { w.ManualSync, w.Approve = true, "hash1" }), Begin, ""},
		"a request approves what is shown":        {aNewAddon().with(func(w *world) { w.ManualSync, w.SyncRequest, w.State.Stored.PlanHash = true, 1, "hash1" }), Begin, ""},
		"and nothing else":                        {aNewAddon().with(func(w *world) { w.ManualSync, w.SyncRequest, w.State.Stored.PlanHash = true, 1, "old" }), Publish, wire.AddonOutOfSync},
		"an answered request is none": {aNewAddon().with(func(w *world) {
			w.ManualSync, w.SyncRequest, w.State.Stored.PlanHash, w.State.Stored.AppliedSyncRequest = true, 1, "hash1", 1
		}), Publish, wire.AddonOutOfSync},
		"a replacement needs an approval":                      {aNewAddon().with(func(w *world) { w.Work.Preview.Counts.Replace = 1 }), Publish, wire.AddonOutOfSync},
		"a mass removal too":                                   {aNewAddon().with(func(w *world) { w.Work.Preview.Mass = "all go" }), Publish, wire.AddonOutOfSync},
		"an automatic one begins":                              {aNewAddon(), Begin, ""},
		"and tells so before it writes":                        {aNewAddon().syncing().with(func(w *world) { w.State.Stored.Sync = nil }), Publish, wire.AddonSyncing},
		"also what it may make":                                {aNewAddon().syncing().with(func(w *world) { w.State.Stored.Sets.Inventory = "" }), Publish, wire.AddonSyncing},
		"then it applies":                                      {aNewAddon().syncing(), Apply, wire.PartAll},
		"with hooks, what they need first":                     {aNewAddon().syncing().with(hooked0), Apply, wire.PartEarly},
		"then the hooks":                                       {aNewAddon().syncing().with(hooked0).with(func(w *world) { w.Work.Early = true }), Hook, "pre-install"},
		"then the rest":                                        {aNewAddon().syncing().with(hooked0).with(early), Apply, wire.PartRest},
		"then the other hooks":                                 {aNewAddon().syncing().with(hooked0).with(early).with(func(w *world) { w.Sync.Applied = true }), Hook, "post-install"},
		"another content is another sync":                      {aNewAddon().syncing().with(func(w *world) { w.Work.Preview.Hash = "v2" }), Begin, ""},
		"another plan of an automatic one too":                 {aNewAddon().syncing().with(func(w *world) { w.Work.Preview.PlanHash = "hash2" }), Begin, ""},
		"an approved one keeps its plan":                       {aNewAddon().syncing().with(func(w *world) { w.Work.Preview.PlanHash, w.Sync.Approver.Name = "hash2", "ann" }), Apply, wire.PartAll},
		"nothing to do on the first look":                      {aNewAddon().done(), Publish, wire.AddonSynced},
		"a failure waits":                                      {aNewAddon().with(func(w *world) { w.Failure = &Failure{Message: "x", Until: now.Add(time.Second)} }), Publish, wire.AddonError},
		"and is over":                                          {aNewAddon().with(func(w *world) { w.Failure = &Failure{Message: "x", Until: now} }), Begin, ""},
		"a failed hook is tidied up after":                     {aNewAddon().syncing().with(hooked0).with(func(w *world) { w.Work.Early, w.Work.Event, w.Work.HookFailed = true, "pre-install", "x" }), Tidy, "pre-install"},
		"then it is a failure":                                 {aNewAddon().syncing().with(hooked0).with(func(w *world) { w.Work.Event, w.Work.HookFailed, w.Work.Tidied = "pre-install", "x", true }), Stumble, ""},
		"an uninstall removes what it has":                     {aNewAddon().with(uninstalling), Remove, ""},
		"what it must know is not lost":                        {aNewAddon().with(uninstalling).with(func(w *world) { w.Problem = "the hooks are lost" }), Publish, wire.AddonError},
		"then lets go":                                         {aNewAddon().with(uninstalling).with(func(w *world) { w.Sync.Applied = true }), Release, ""},
		"what failed in it waits":                              {aNewAddon().with(uninstalling).with(func(w *world) { w.Failure = &Failure{Until: now.Add(1)} }), Publish, wire.AddonError},
		"nobody's word is needed for its hooks":                {aNewAddon().with(uninstalling).with(func(w *world) { w.Hooks = []wire.AddonHook{{Event: "pre-delete"}} }), Hook, "pre-delete"},
		"a finished hook of an earlier try is tidied up after": {aNewAddon().with(uninstalling).with(func(w *world) { w.Hooks, w.Sync.Pre = []wire.AddonHook{{Event: "pre-delete"}}, 1 }), Tidy, "pre-delete"},
		"once": {aNewAddon().with(uninstalling).with(func(w *world) {
			w.Hooks, w.Sync.Pre, w.Sync.Tidied = []wire.AddonHook{{Event: "pre-delete"}}, 1, "pre-delete"
		}), Remove, ""},
		"what has run is told before more runs": {aNewAddon().syncing().with(hooked0).with(early).with(func(w *world) {
			w.State.Stored.Sync = &wire.AddonSync{ID: "s", Lifecycle: "install", Hash: "v1", PlanHash: "hash1"}
		}), Publish, wire.AddonSyncing},
		"dependencies of a synced one are waited for when there is something to do": {aNewAddon().with(func(w *world) { w.Waits, w.State.Stored.Adopted = "for x", true }), Publish, wire.AddonPending},
	} {
		t.Run(name, func(t *testing.T) {
			step := Next(test.world.State, test.world.AddonClaim, now)
			what := step.Status.Phase + step.Part + step.Hook.Event
			if step.Kind != test.kind || what != test.what {
				t.Errorf("step = %s %s (%+v), want %s %s", step.Kind, what, step, test.kind, test.what)
			}
		})
	}
}

func hooked0(w *world) {
	w.Work.Preview.Hooks = []wire.AddonHook{{Event: "pre-install", Kind: "Job", Works: true}, {Event: "post-install", Kind: "Job", Works: true}}
}

func early(w *world) {
	w.Work.Early, w.Work.Event, w.Work.Runs = true, "pre-install", []string{"r"}
	w.Sync.Pre, w.Sync.Tidied = 1, "pre-install"
}

func uninstalling(w *world) {
	w.Deleting, w.Uninstall = true, true
	w.Sync = &wire.AddonSync{ID: "d", Lifecycle: wire.LifecycleDelete}
	w.State.Stored.Sync, w.State.Stored.Phase, w.State.Stored.Sets.Inventory = w.Sync, wire.AddonUninstalling, "i"
}

func TestWhatIsPublishedTwiceIsNot(t *testing.T) {
	for name, w := range map[string]*world{
		"suspended": aNewAddon().with(func(w *world) { w.Suspended = true }),
		"waiting":   aNewAddon().with(func(w *world) { w.Waits = "for x" }),
		"blocked":   aNewAddon().with(func(w *world) { w.Work.Preview.Blocked = "x" }),
		"reviewed":  aNewAddon().with(func(w *world) { w.ManualSync = true }),
		"synced":    aNewAddon().done(),
		"failing":   aNewAddon().with(func(w *world) { w.Failure = &Failure{Message: "x", Until: now.Add(time.Second)} }),
	} {
		t.Run(name, func(t *testing.T) {
			step := Next(w.State, w.AddonClaim, now)
			if step.Kind != Publish {
				t.Fatalf("step = %+v, want Publish", step)
			}
			w.State.Stored, w.Sync = step.Status, step.Status.Sync
			if again := Next(w.State, w.AddonClaim, now); again.Kind != Park {
				t.Errorf("step = %+v, want Park", again)
			}
		})
	}
}

func TestTextsAreWhatAnObjectTakes(t *testing.T) {
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 0xff
	}
	for _, text := range []string{string(long), "a\x00b\nc", "ä" + string(make([]rune, 3000))} {
		got := clip(text)
		if clip(got) != got && len(got) <= maxMessage {
			t.Errorf("%q is cut again to %q", got, clip(got))
		}
		if len(got) > maxMessage+len(" … (cut)") {
			t.Errorf("a text of %d bytes has %d", len(text), len(got))
		}
	}
}
