package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is what a sync does to an object.
//
// +kubebuilder:validation:Enum=create;update;replace;prune
type Action string

// The actions.
const (
	ActionCreate  Action = "create"
	ActionUpdate  Action = "update"
	ActionReplace Action = "replace"
	ActionPrune   Action = "prune"
)

// Plan is what a sync would do.
type Plan struct {
	// hash of all that would be done; spec.approve names it.
	// +kubebuilder:validation:MaxLength=80
	// +optional
	Hash string `json:"hash,omitempty"`
	// create is how many objects are made.
	// +optional
	Create int32 `json:"create"`
	// update is how many objects are changed.
	// +optional
	Update int32 `json:"update"`
	// replace is how many objects are deleted and made anew.
	// +optional
	Replace int32 `json:"replace"`
	// prune is how many objects are deleted.
	// +optional
	Prune int32 `json:"prune"`
	// unchanged is how many objects stay as they are.
	// +optional
	Unchanged int32 `json:"unchanged"`
	// unverified is how many of the above could not be tried in a dry run.
	// +optional
	Unverified int32 `json:"unverified"`
	// items: the first 100 objects that would change.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Items []PlanItem `json:"items,omitempty"`
}

// PlanItem is an object that a sync would change.
type PlanItem struct {
	ObjectRef `json:",inline"`

	// action on the object.
	// +required
	Action Action `json:"action"`
	// unverified is why no dry run could be made; it is made before the object is written.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Unverified string `json:"unverified,omitempty"`
}

// Preview is the plan in numbers, and with its differences.
type Preview struct {
	// create is how many objects are made.
	// +optional
	Create int32 `json:"create"`
	// update is how many objects are changed or replaced.
	// +optional
	Update int32 `json:"update"`
	// unchanged is how many objects stay as they are.
	// +optional
	Unchanged int32 `json:"unchanged"`
	// prune is how many objects are deleted.
	// +optional
	Prune int32 `json:"prune"`
	// items: the first 100 objects that would change.
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +optional
	Items []PreviewItem `json:"items,omitempty"`
}

// PreviewItem is an object that a sync would change, and how.
type PreviewItem struct {
	ObjectRef `json:",inline"`

	// action on the object; a replacement is an update here.
	// +kubebuilder:validation:Enum=create;update;prune
	// +required
	Action Action `json:"action"`
	// diff is unified, without secrets, and cut.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Diff string `json:"diff,omitempty"`
}

// HookRef is a hook that the source has.
type HookRef struct {
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// events at which it runs.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Events []string `json:"events,omitempty"`
}

// HookRunStatus is how a hook ended.
//
// +kubebuilder:validation:Enum=succeeded;failed
type HookRunStatus string

// The ends of a hook.
const (
	HookSucceeded HookRunStatus = "succeeded"
	HookFailed    HookRunStatus = "failed"
)

// HookRun is the end of a hook.
type HookRun struct {
	// event that it ran at.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Event string `json:"event"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// kind of the object.
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// status is how it ended.
	// +required
	Status HookRunStatus `json:"status"`
	// message says why it failed.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// finished is when.
	// +optional
	Finished *metav1.Time `json:"finished,omitempty"`
}

// Outcome is how a sync ended.
//
// +kubebuilder:validation:Enum=Succeeded;Failed;Stopped
type Outcome string

// The ends of a sync.
const (
	OutcomeSucceeded Outcome = "Succeeded"
	OutcomeFailed    Outcome = "Failed"
	// OutcomeStopped is that of a sync which found that the cluster is no longer what was
	// reviewed.
	OutcomeStopped Outcome = "Stopped"
)

// HistoryEntry is one sync.
type HistoryEntry struct {
	// revision that was applied.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Revision string `json:"revision,omitempty"`
	// planHash of what was applied.
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
	// at is when it ended.
	// +required
	At metav1.Time `json:"at"`
	// outcome in one word.
	// +required
	Outcome Outcome `json:"outcome"`
	// message says what changed, or went wrong.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}
