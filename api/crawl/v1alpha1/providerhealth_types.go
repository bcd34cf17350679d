package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderHealth says whether a provider's backend can be reached right now.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ph,path=providerhealth,singular=providerhealth,categories=fairlead
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.status.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Targets",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Last Check",type=date,JSONPath=`.status.lastCheckTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ProviderHealth struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the result of the last check. There is no spec: providers are
	// configured in the providers file.
	// +optional
	Status ProviderHealthStatus `json:"status,omitempty"`
}

// ProviderHealthList is a list of ProviderHealth objects.
//
// +kubebuilder:object:root=true
type ProviderHealthList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderHealth `json:"items"`
}

// ProviderHealthStatus is the result of the last check of a provider.
type ProviderHealthStatus struct {
	// type of the provider.
	// +optional
	Type string `json:"type,omitempty"`
	// ready is True when every target is.
	// +optional
	Ready metav1.ConditionStatus `json:"ready,omitempty"`
	// summary is the number of ready targets of all targets, such as 1/2.
	// +optional
	Summary string `json:"summary,omitempty"`
	// lastCheckTime is when the check ended.
	// +optional
	LastCheckTime *metav1.Time `json:"lastCheckTime,omitempty"`
	// targets, one verdict each.
	// +listType=map
	// +listMapKey=name
	// +optional
	Targets []TargetHealth `json:"targets,omitempty"`
}

// TargetHealth is the verdict on one target of a provider, such as a KVM host.
type TargetHealth struct {
	// name of the target.
	Name string `json:"name"`
	// ready says whether the target answered.
	Ready bool `json:"ready"`
	// reason in one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message for people.
	// +optional
	Message string `json:"message,omitempty"`
	// details such as versions and free space.
	// +optional
	Details map[string]string `json:"details,omitempty"`
	// lastTransitionTime is when ready last changed.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}
