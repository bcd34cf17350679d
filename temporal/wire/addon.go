package wire

import "time"

// QueueAddons is the task queue of the workflows and activities of add-ons: their worker
// has rights that others need not have, and can run apart.
const QueueAddons = "fairlead-addons"

// WaitsOf is the task queue, beside one of workflows, of the activities that mostly wait: they
// must not take the places of those that do not.
func WaitsOf(queue string) string { return queue + "-waits" }

// Workflow types of add-ons.
const (
	// WorkflowAddon keeps one Addon.
	WorkflowAddon = "Addon"
	// WorkflowAddonSweep looks at all add-ons once.
	WorkflowAddonSweep = "AddonSweep"
)

// SweepAddonsID is the Schedule of WorkflowAddonSweep. No provider has the name.
const SweepAddonsID = SweepPrefix + "addons"

// AddonID is the workflow id of an Addon.
func AddonID(ref AddonRef) string { return "addon/" + ref.Name + "/" + ref.UID }

// SignalSync asks an Addon workflow for a sync; its payload is a SyncInput, or nothing.
const SignalSync = "sync"

// UpdateSync does the same, and answers when it was written on the object.
const UpdateSync = "sync"

// Activities of add-ons, as the Temporal UI lists them.
const (
	ActivityAddonClaim   = "ClaimAddon"
	ActivityAddonPreview = "PreviewAddon"
	ActivityAddonPublish = "PublishAddonStatus"
	ActivityAddonApply   = "ApplyAddon"
	ActivityAddonHook    = "RunHook"
	ActivityAddonTidy    = "TidyHooks"
	ActivityAddonSettle  = "AwaitHealth"
	ActivityAddonRemove  = "RemoveObjects"
	ActivityAddonRelease = "ReleaseAddon"
	ActivityAddonAsk     = "AskForSync"
	ActivitySweepAddons  = "SweepAddons"
)

// AddonRef names one Addon object for good.
type AddonRef struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

func (r AddonRef) String() string { return r.Name }

// AddonClaim is the truth about an Addon, read once.
type AddonClaim struct {
	// Gone: no object with this UID exists any more.
	Gone bool `json:"gone,omitempty"`

	Generation int64  `json:"generation,omitempty"`
	Inputs     string `json:"inputs,omitempty"`
	Deleting   bool   `json:"deleting,omitempty"`
	// Uninstall: the deletion removes the objects too.
	Uninstall bool `json:"uninstall,omitempty"`
	Suspended bool `json:"suspended,omitempty"`
	// Waits says which add-ons must be synced and healthy first; empty for none.
	Waits string `json:"waits,omitempty"`
	// Problem says why it cannot be synced or uninstalled at all, as that its dependencies are
	// a circle.
	Problem string `json:"problem,omitempty"`

	ManualSync        bool `json:"manualSync,omitempty"`
	AllowAdoptChanges bool `json:"allowAdoptChanges,omitempty"`
	// Approve is the hash of the plan that may be applied.
	Approve     string   `json:"approve,omitempty"`
	SyncRequest int64    `json:"syncRequest,omitempty"`
	Approver    Approver `json:"approver,omitzero"`
	// HookTimeout is how long one hook may take.
	HookTimeout time.Duration `json:"hookTimeout,omitempty"`
	// Hooks of the render that was applied, that an uninstall runs: those of pre-delete,
	// then those of post-delete. It is told of objects that are being uninstalled.
	Hooks []AddonHook `json:"hooks,omitempty"`

	Stored AddonStatus `json:"stored"`
}

// Approver is who asked for a sync.
type Approver struct {
	Name string `json:"name,omitempty"`
	// Verified by a token of the HTTP API.
	Verified bool `json:"verified,omitempty"`
}

// AddonStatus is what a workflow publishes of an Addon. Lists and differences are not in
// it: the activity that publishes reads them from the set store.
type AddonStatus struct {
	Sequence           int64  `json:"sequence"`
	Phase              string `json:"phase,omitempty"`
	Message            string `json:"message,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	ObservedInputs     string `json:"observedInputs,omitempty"`

	Revision string `json:"revision,omitempty"`
	// Version and Digest are what exactly the source was.
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`

	// PlanHash and Counts are of what a sync would do. The hash is empty if it would do
	// nothing.
	PlanHash string      `json:"planHash,omitempty"`
	Counts   AddonCounts `json:"counts"`
	Sets     AddonSets   `json:"sets"`
	Health   AddonHealth `json:"health,omitzero"`

	// Adopted is set by the first completed sync, and stays.
	Adopted bool `json:"adopted,omitempty"`
	// AppliedHash is the content that the last completed sync applied.
	AppliedHash        string    `json:"appliedHash,omitempty"`
	LastSynced         time.Time `json:"lastSynced,omitzero"`
	AppliedSyncRequest int64     `json:"appliedSyncRequest,omitempty"`
	// Sync is how far an unfinished sync, or uninstall, has got; nil for none.
	Sync *AddonSync `json:"sync,omitempty"`
}

// AddonCounts are the numbers of objects that a sync would act on.
type AddonCounts struct {
	Create     int32 `json:"create,omitempty"`
	Update     int32 `json:"update,omitempty"`
	Replace    int32 `json:"replace,omitempty"`
	Prune      int32 `json:"prune,omitempty"`
	Unchanged  int32 `json:"unchanged,omitempty"`
	Unverified int32 `json:"unverified,omitempty"`
}

// AddonSets are digests in the set store.
type AddonSets struct {
	// Plan that waits to be applied, or is being applied.
	Plan string `json:"plan,omitempty"`
	// Render that was applied last.
	Render string `json:"render,omitempty"`
	// Inventory is every object that is, or may be, in the cluster.
	Inventory string `json:"inventory,omitempty"`
}

// AddonHealth is how the applied objects are together.
type AddonHealth struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// AddonSync is an unfinished sync. What it counts as done is not done again.
type AddonSync struct {
	// ID tells the hooks of this sync from those of others.
	ID string `json:"id"`
	// Lifecycle says which hooks run: install, upgrade, delete, or none if empty.
	Lifecycle string `json:"lifecycle,omitempty"`
	// Hash of the content; another one is another sync.
	Hash string `json:"hash,omitempty"`
	// PlanHash that was approved; empty while nothing is.
	PlanHash string   `json:"planHash,omitempty"`
	Approver Approver `json:"approver,omitzero"`
	// Pre and Post are how many hooks of the first and second event have succeeded.
	Pre  int `json:"pre,omitempty"`
	Post int `json:"post,omitempty"`
	// Applied: the objects are written, or deleted, and only the second event is left.
	Applied bool `json:"applied,omitempty"`
	// Tidied is the event whose hooks were tidied up after, the last one.
	Tidied string `json:"tidied,omitempty"`
	// Attempt counts how often hooks of it failed: a run again is another run.
	Attempt int `json:"attempt,omitempty"`
}

// Lifecycles of a sync.
const (
	LifecycleInstall = "install"
	LifecycleUpgrade = "upgrade"
	LifecycleDelete  = "delete"
)

// AddonPreviewInput is the input of ActivityAddonPreview.
type AddonPreviewInput struct {
	Addon AddonRef `json:"addon"`
	// Generation of the claim: another one by now is another claim's.
	Generation int64 `json:"generation"`
}

// AddonPreview is what the source renders to, and what a sync of it would do.
type AddonPreview struct {
	Revision string `json:"revision,omitempty"`
	Version  string `json:"version,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// Hash of the content: another one after any change of what is rendered.
	Hash string `json:"hash"`
	// Render, and if there is something to do Plan, are stored.
	Render string `json:"render"`
	Plan   string `json:"plan,omitempty"`
	// Inventory is stored if there is something to do: what may be there from now on. It is
	// set too if there is nothing to do and the one of the status was not exact.
	Inventory string      `json:"inventory,omitempty"`
	PlanHash  string      `json:"planHash,omitempty"`
	Counts    AddonCounts `json:"counts"`
	// Writes is how many objects a sync would write or delete. It is more than the counts
	// tell if objects have their content and lack our marks.
	Writes int `json:"writes,omitempty"`
	// Summary names the first of them.
	Summary string `json:"summary,omitempty"`
	// Blocked says what must not be done, and the remedy; empty for nothing.
	Blocked string `json:"blocked,omitempty"`
	// Adopts says what an adoption would change; empty for nothing.
	Adopts string `json:"adopts,omitempty"`
	// Mass says that a sync would remove suspiciously much; empty if not.
	Mass string `json:"mass,omitempty"`
	// Warning is for people.
	Warning string `json:"warning,omitempty"`
	// Lifecycle of a sync now, and its hooks: those before, then those after.
	Lifecycle string      `json:"lifecycle,omitempty"`
	Hooks     []AddonHook `json:"hooks,omitempty"`
	// Health of what was applied.
	Health AddonHealth `json:"health,omitzero"`
}

// AddonHook is a hook that a sync runs.
type AddonHook struct {
	// Event as Helm has it, as pre-install.
	Event string `json:"event"`
	Kind  string `json:"kind"`
	// Name of the object, cut at 63 bytes.
	Name string `json:"name"`
	// Works is set if it has an end, as that of a Job: it is not run again then.
	Works bool `json:"works,omitempty"`
}

// AddonPublishInput is the input of ActivityAddonPublish.
type AddonPublishInput struct {
	Addon  AddonRef    `json:"addon"`
	Status AddonStatus `json:"status"`
	// Render that the status speaks of: its hooks are listed. Empty leaves them.
	Render string `json:"render,omitempty"`
	// Ran are the hooks that ended since the last status.
	Ran []AddonHookRun `json:"ran,omitempty"`
	// Ended is the sync that ended since then.
	Ended *AddonSyncEnd `json:"ended,omitempty"`
}

// AddonHookRun is the end of a hook.
type AddonHookRun struct {
	Event   string    `json:"event"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Failed  bool      `json:"failed,omitempty"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at"`
}

// AddonSyncEnd is the end of a sync.
type AddonSyncEnd struct {
	Revision string    `json:"revision,omitempty"`
	PlanHash string    `json:"planHash,omitempty"`
	Approver Approver  `json:"approver,omitzero"`
	At       time.Time `json:"at"`
	// Outcome is Succeeded, Failed or Stopped.
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
}

// Parts of a plan.
const (
	// PartEarly is the CustomResourceDefinitions of crds folders and the namespace of the
	// add-on: hooks need them.
	PartEarly = "early"
	// PartRest is all else; then it prunes.
	PartRest = "rest"
	// PartAll is both.
	PartAll = "all"
)

// AddonApplyInput is the input of ActivityAddonApply.
type AddonApplyInput struct {
	Addon AddonRef `json:"addon"`
	// Plan in the set store, and which part of it.
	Plan string `json:"plan"`
	Part string `json:"part"`
	// Approved plans may replace objects.
	Approved bool `json:"approved,omitempty"`
}

// AddonApplied is what became of a plan.
type AddonApplied struct {
	// Moved says what was not any more as it was reviewed; empty for nothing.
	Moved string `json:"moved,omitempty"`
	// Failed says what could not be done; empty for nothing.
	Failed string `json:"failed,omitempty"`
	// Inventory is exact now; empty if the plan was not done whole.
	Inventory string `json:"inventory,omitempty"`
	Written   int    `json:"written,omitempty"`
	Deleted   int    `json:"deleted,omitempty"`
	// Defined: the cluster has other kinds than the render was made for.
	Defined bool        `json:"defined,omitempty"`
	Health  AddonHealth `json:"health,omitzero"`
}

// AddonHookInput is the input of ActivityAddonHook: one run of one hook.
type AddonHookInput struct {
	Addon  AddonRef `json:"addon"`
	Render string   `json:"render"`
	Event  string   `json:"event"`
	// Number of the hook among those of the event, from 0.
	Number int `json:"number"`
	// Run tells it from all others.
	Run     string        `json:"run"`
	Timeout time.Duration `json:"timeout"`
}

// AddonHookResult is how a hook ended.
type AddonHookResult struct {
	// Failed says why; empty if it succeeded.
	Failed string `json:"failed,omitempty"`
	// Output is the end of what it printed, if it asks for that.
	Output string `json:"output,omitempty"`
}

// AddonTidyInput is the input of ActivityAddonTidy: what the hooks of an event have left is
// deleted as their policies say.
type AddonTidyInput struct {
	Addon  AddonRef `json:"addon"`
	Render string   `json:"render"`
	Event  string   `json:"event"`
	// Runs of the first hooks of the event, by number; the last of them failed if Failed.
	Runs   []string `json:"runs"`
	Failed bool     `json:"failed,omitempty"`
}

// AddonSettleInput is the input of ActivityAddonSettle, which returns when the health is
// another than Told.
type AddonSettleInput struct {
	Addon     AddonRef    `json:"addon"`
	Inventory string      `json:"inventory"`
	Told      AddonHealth `json:"told"`
}

// AddonRemoveInput is the input of ActivityAddonRemove.
type AddonRemoveInput struct {
	Addon     AddonRef `json:"addon"`
	Inventory string   `json:"inventory"`
}

// AddonRemoved is what became of the objects of an add-on.
type AddonRemoved struct {
	Deleted int `json:"deleted,omitempty"`
	// Kept names what is left in the cluster on purpose.
	Kept string `json:"kept,omitempty"`
	// Failed says what could not be deleted; empty for nothing.
	Failed string `json:"failed,omitempty"`
}

// AddonReleaseInput is the input of ActivityAddonRelease.
type AddonReleaseInput struct {
	Addon AddonRef `json:"addon"`
	// Kept is told to people.
	Kept string `json:"kept,omitempty"`
}

// SyncInput is the input of ActivityAddonAsk, and without Addon the payload of SignalSync
// and UpdateSync.
type SyncInput struct {
	Addon AddonRef `json:"addon,omitzero"`
	// Plan is the hash to approve; empty for the one that the status shows.
	Plan string `json:"plan,omitempty"`
	// Who asks, for the history.
	Who string `json:"who,omitempty"`
}

// AddonSweepResult is the result of WorkflowAddonSweep and ActivitySweepAddons.
type AddonSweepResult struct {
	Addons int `json:"addons"`
	// Started is how many had no workflow, Woken how many differ from their status.
	Started int `json:"started,omitempty"`
	Woken   int `json:"woken,omitempty"`
	// Problem is what could not be looked at.
	Problem string `json:"problem,omitempty"`
}

// Phases of an Addon; the API type lists the same.
const (
	AddonPending      = "Pending"
	AddonSynced       = "Synced"
	AddonOutOfSync    = "OutOfSync"
	AddonBlocked      = "Blocked"
	AddonError        = "Error"
	AddonSuspended    = "Suspended"
	AddonSyncing      = "Syncing"
	AddonUninstalling = "Uninstalling"
)

// Outcomes of a sync; the API type lists the same.
const (
	OutcomeSucceeded = "Succeeded"
	OutcomeFailed    = "Failed"
	OutcomeStopped   = "Stopped"
)

// Healthy is the health of add-ons whose objects all work.
const Healthy = "Healthy"
