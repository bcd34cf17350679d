package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase is where an Addon is in its life.
//
// +kubebuilder:validation:Enum=Pending;Synced;OutOfSync;Blocked;Error;Suspended;Syncing;Uninstalling
type Phase string

// The phases.
const (
	PhasePending      Phase = "Pending"
	PhaseSynced       Phase = "Synced"
	PhaseOutOfSync    Phase = "OutOfSync"
	PhaseBlocked      Phase = "Blocked"
	PhaseError        Phase = "Error"
	PhaseSuspended    Phase = "Suspended"
	PhaseSyncing      Phase = "Syncing"
	PhaseUninstalling Phase = "Uninstalling"
)

// AddonStatus is what an add-on is. Only its workflow writes it, with a sequence that
// never goes backwards, and as Fit cuts it.
type AddonStatus struct {
	// phase in one word.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// message says why, and what to do.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Message string `json:"message,omitempty"`
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// observedInputs is a hash over generation, deletion, the annotations of
	// rendimiento.ai and the state of dependsOn that this status speaks of.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	ObservedInputs string `json:"observedInputs,omitempty"`
	// sequence of this status; a lower one is refused.
	// +kubebuilder:validation:Maximum=9007199254740991
	// +optional
	Sequence int64 `json:"sequence,omitempty"`

	// revision for people: chart-version, or a commit.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Revision string `json:"revision,omitempty"`
	// resolved is what exactly the source was at the last look.
	// +optional
	Resolved *Resolved `json:"resolved,omitempty"`
	// plan is what the next sync would do.
	// +optional
	Plan *Plan `json:"plan,omitempty"`
	// preview is the plan with its differences, masked and shortened.
	// +optional
	Preview *Preview `json:"preview,omitempty"`
	// health of the objects that were applied.
	// +optional
	Health *Health `json:"health,omitempty"`

	// objects that were applied: the first 500.
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	// +optional
	Objects []ObjectRef `json:"objects,omitempty"`
	// objectsTotal is how many objects were applied.
	// +optional
	ObjectsTotal int32 `json:"objectsTotal,omitempty"`
	// sets are digests of what is kept whole in Secrets.
	// +optional
	Sets *Sets `json:"sets,omitempty"`
	// hooks that the source has.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Hooks []HookRef `json:"hooks,omitempty"`
	// hookRuns are the last 20 ends of hooks, the newest last.
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	// +optional
	HookRuns []HookRun `json:"hookRuns,omitempty"`

	// adopted is true after the first completed sync.
	// +optional
	Adopted bool `json:"adopted,omitempty"`
	// appliedHash is the hash of what was rendered for the last completed sync.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	AppliedHash string `json:"appliedHash,omitempty"`
	// lastSynced is the time of the last completed sync.
	// +optional
	LastSynced *metav1.Time `json:"lastSynced,omitempty"`
	// appliedSyncRequest is the spec.syncRequest that was acted on.
	// +optional
	AppliedSyncRequest int64 `json:"appliedSyncRequest,omitempty"`
	// sync is how far an unfinished sync, or uninstall, has got.
	// +optional
	Sync *SyncProgress `json:"sync,omitempty"`
	// history has the last 10 syncs, the newest last.
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	History []HistoryEntry `json:"history,omitempty"`
	// conditions: Ready.
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SyncProgress is how far a sync, or an uninstall, has got. What it counts as done is not
// done again.
type SyncProgress struct {
	// id tells the hooks of this sync from those of others.
	// +kubebuilder:validation:MaxLength=64
	// +required
	ID string `json:"id"`
	// lifecycle says which hooks run: install, upgrade or delete; none if empty.
	// +kubebuilder:validation:MaxLength=16
	// +optional
	Lifecycle string `json:"lifecycle,omitempty"`
	// hash of the content; another one is another sync.
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Hash string `json:"hash,omitempty"`
	// planHash of the plan that was approved.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	PlanHash string `json:"planHash,omitempty"`
	// who approved it; empty when nobody had to.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Who string `json:"who,omitempty"`
	// verified is true if who proved it with a token of the HTTP API.
	// +optional
	Verified bool `json:"verified,omitempty"`
	// pre is how many hooks before the objects have succeeded.
	// +optional
	Pre int32 `json:"pre,omitempty"`
	// applied is true if the objects are written, or deleted.
	// +optional
	Applied bool `json:"applied,omitempty"`
	// post is how many hooks after the objects have succeeded.
	// +optional
	Post int32 `json:"post,omitempty"`
	// tidied is the event whose hooks were tidied up after.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Tidied string `json:"tidied,omitempty"`
	// attempt counts how often a hook failed.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
}

// Resolved is what a source was, to the byte.
type Resolved struct {
	// version of the chart, or the commit.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Version string `json:"version,omitempty"`
	// digest of the chart's archive, or the commit.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Digest string `json:"digest,omitempty"`
}

// HealthStatus is how applied objects are.
//
// +kubebuilder:validation:Enum=Healthy;Progressing;Degraded;Missing;Unknown
type HealthStatus string

// The words for health.
const (
	HealthHealthy     HealthStatus = "Healthy"
	HealthProgressing HealthStatus = "Progressing"
	HealthDegraded    HealthStatus = "Degraded"
	HealthMissing     HealthStatus = "Missing"
	HealthUnknown     HealthStatus = "Unknown"
)

// Health is how all applied objects are together.
type Health struct {
	// status is that of the worst object.
	// +required
	Status HealthStatus `json:"status"`
	// message names the objects that are not healthy.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// ObjectRef names an object.
type ObjectRef struct {
	// group of its API; empty for the core group.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`
	// version of its API.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Version string `json:"version"`
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// namespace of the object; empty if its kind has none.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// Sets are digests of what the set store keeps of an add-on.
type Sets struct {
	// plan that status.plan counts.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Plan string `json:"plan,omitempty"`
	// render that was applied last.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Render string `json:"render,omitempty"`
	// inventory is every object that is, or may be, in the cluster.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Inventory string `json:"inventory,omitempty"`
}
