package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Addon is software that the cluster needs: rendered from a Helm chart or a folder in
// git, previewed against the live cluster, applied, pruned and uninstalled.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=radd,categories=fairlead
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.namespace`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.revision`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.health.status`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.sequence) || (has(self.status) && has(self.status.sequence) && self.status.sequence >= oldSelf.status.sequence)",message="status.sequence may not go backwards: a newer writer was here; read the object again"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name of an add-on may have 63 characters: each of its objects carries it as a label"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.source.helm) || (has(self.spec.releaseName) && size(self.spec.releaseName) > 0) || size(self.metadata.name) <= 53",message="without spec.releaseName the name is that of the Helm release too, which may have 53 characters: set spec.releaseName"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.dependsOn) || !self.spec.dependsOn.exists(d, d.name == self.metadata.name)",message="an add-on cannot depend on itself: take its own name off spec.dependsOn"
type Addon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the add-on should be.
	// +required
	Spec AddonSpec `json:"spec"`
	// status is what the add-on is. Only its workflow writes it.
	// +optional
	Status AddonStatus `json:"status,omitempty"`
}

// AddonList is a list of Addon objects.
//
// +kubebuilder:object:root=true
type AddonList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Addon `json:"items"`
}

// ReplacePolicy says what becomes of an object with a change that Kubernetes refuses.
//
// +kubebuilder:validation:Enum=Never;OnApproval
type ReplacePolicy string

// The policies.
const (
	// ReplaceNever shows the replacement in the plan and does not do it.
	ReplaceNever ReplacePolicy = "Never"
	// ReplaceOnApproval deletes the object and makes it anew once the plan was approved.
	ReplaceOnApproval ReplacePolicy = "OnApproval"
)

// AddonSpec is what an add-on should be.
//
// +kubebuilder:validation:XValidation:rule="!has(self.values) || size(self.values) == 0 || has(self.source.helm)",message="values are for source.helm only: a folder in git has no values"
// +kubebuilder:validation:XValidation:rule="!has(self.valuesFrom) || size(self.valuesFrom) == 0 || has(self.source.helm)",message="valuesFrom is for source.helm only: a folder in git has no values"
type AddonSpec struct {
	// namespace of objects that name none, and of the Helm release.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Namespace string `json:"namespace"`
	// source is what the objects are rendered from.
	// +required
	Source AddonSource `json:"source"`
	// values of the chart, as YAML text (not for secrets: see valuesFrom).
	// +kubebuilder:validation:MaxLength=524288
	// +optional
	Values string `json:"values,omitempty"`
	// valuesFrom has more values, each a YAML text in a Secret or ConfigMap. A later one
	// goes over an earlier one, and values go over all.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	ValuesFrom []ValuesSource `json:"valuesFrom,omitempty"`
	// releaseName is the name of the Helm release; default: that of the add-on.
	// +kubebuilder:validation:MaxLength=53
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	// +optional
	ReleaseName string `json:"releaseName,omitempty"`

	// adopt takes over objects that run already, if that changes none of them.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
	// allowAdoptChanges lets the adoption change them.
	// +optional
	AllowAdoptChanges bool `json:"allowAdoptChanges,omitempty"`
	// prune deletes objects that the source no longer has.
	// +optional
	Prune bool `json:"prune,omitempty"`
	// createNamespace adds spec.namespace as an object, unless the source has it.
	// +optional
	CreateNamespace bool `json:"createNamespace,omitempty"`
	// replacePolicy is Never, or OnApproval: an object with a change that Kubernetes
	// refuses is deleted and made anew when the plan that says so was approved.
	// +kubebuilder:default=Never
	// +optional
	ReplacePolicy ReplacePolicy `json:"replacePolicy,omitempty"`
	// ignoreDifferences names fields that others write.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	IgnoreDifferences []IgnoredDifference `json:"ignoreDifferences,omitempty"`
	// dependsOn names add-ons that must be Synced and healthy before this one syncs.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	DependsOn []Dependency `json:"dependsOn,omitempty"`

	// manualSync has changes wait until somebody approves them.
	// +optional
	ManualSync bool `json:"manualSync,omitempty"`
	// approve is the hash of a plan (status.plan.hash): that plan is applied, and no other.
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^(([a-z0-9]+:)?[0-9a-z]{16,64})?$`
	// +optional
	Approve string `json:"approve,omitempty"`
	// syncRequest above status.appliedSyncRequest approves the plan that status shows.
	// +kubebuilder:validation:Minimum=0
	// +optional
	SyncRequest int64 `json:"syncRequest,omitempty"`
	// suspend stops everything but deletion.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// skipHooks never runs the chart's hooks.
	// +optional
	SkipHooks bool `json:"skipHooks,omitempty"`
	// hookTimeout is how long one hook may take, in seconds; 0 means 600.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	// +optional
	HookTimeout int32 `json:"hookTimeout,omitempty"`

	// title for people.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Title string `json:"title,omitempty"`
	// category for people, such as storage.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Category string `json:"category,omitempty"`
	// description for people.
	// +kubebuilder:validation:MaxLength=65536
	// +optional
	Description string `json:"description,omitempty"`
}

// IgnoredDifference names fields whose live values stay as they are.
type IgnoredDifference struct {
	// group of the objects; empty for the core group.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Group string `json:"group,omitempty"`
	// kind of the objects.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// namespace of the objects; default: any.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the object; default: any.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Name string `json:"name,omitempty"`
	// jsonPointers to the fields, such as /spec/replicas.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^(/([^/~]|~[01])*)+$`
	// +listType=atomic
	// +required
	JSONPointers []string `json:"jsonPointers"`
}

// Dependency is another add-on.
type Dependency struct {
	// name of the add-on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
}
