package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase is where a Proxy is in its life.
//
// +kubebuilder:validation:Enum=Pending;Provisioning;Ready;Unhealthy;Draining;Replacing;Deleting;Waiting;Failed
type Phase string

// The phases.
const (
	PhasePending      Phase = "Pending"
	PhaseProvisioning Phase = "Provisioning"
	PhaseReady        Phase = "Ready"
	PhaseUnhealthy    Phase = "Unhealthy"
	PhaseDraining     Phase = "Draining"
	PhaseReplacing    Phase = "Replacing"
	PhaseDeleting     Phase = "Deleting"
	PhaseWaiting      Phase = "Waiting"
	PhaseFailed       Phase = "Failed"
)

// ProxyStatus is what a proxy is. Only its workflow writes it, with a sequence
// that never goes backwards.
type ProxyStatus struct {
	// phase in one word.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// observedInputs is a hash over generation, deletion, Fairlead's annotations and
	// the referenced Secrets' versions that this status speaks of.
	// +optional
	ObservedInputs string `json:"observedInputs,omitempty"`
	// sequence of this status; a lower one is refused.
	// +optional
	// +kubebuilder:validation:Maximum=9007199254740991
	Sequence int64 `json:"sequence,omitempty"`
	// providerID of the current instance.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// instances is the ledger: every instance that exists or may exist.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Instances []InstanceRecord `json:"instances,omitempty"`
	// ip is the address or host that clients connect to.
	// +optional
	IP string `json:"ip,omitempty"`
	// port that clients connect to.
	// +optional
	Port int32 `json:"port,omitempty"`
	// specHash is the hash of what shaped the current instance.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// credentialsVersion is the resourceVersion of the Secret whose credentials the
	// current instance asks for.
	// +optional
	CredentialsVersion string `json:"credentialsVersion,omitempty"`
	// latencyMillis of the last reported probe, in milliseconds.
	// +optional
	LatencyMillis int64 `json:"latencyMillis,omitempty"`
	// lastHealthCheckTime is the time of the last probe that changed this status.
	// +optional
	LastHealthCheckTime *metav1.Time `json:"lastHealthCheckTime,omitempty"`
	// exitIP is the address that targets see.
	// +optional
	ExitIP string `json:"exitIP,omitempty"`
	// observedReplace is the value of the annotation crawl.example.com/replace that
	// was acted on.
	// +optional
	ObservedReplace string `json:"observedReplace,omitempty"`
	// recreations are the last times at which the instance had stopped or vanished by
	// itself; more than five within an hour wait.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Recreations []metav1.Time `json:"recreations,omitempty"`
	// conditions: Provisioned, Healthy and Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// InstanceRecord is one entry of the ledger: it is written before the instance
// may exist and leaves when the provider has confirmed that it is gone.
type InstanceRecord struct {
	// provider that has it.
	Provider string `json:"provider"`
	// place within the provider: a zone, a host, a namespace or a state directory.
	// +optional
	Place string `json:"place,omitempty"`
	// name of the instance.
	Name string `json:"name"`
	// incarnation is larger for each new instance of this Proxy.
	// +kubebuilder:validation:Maximum=9007199254740991
	Incarnation int64 `json:"incarnation"`
	// hash of what shapes it.
	// +optional
	Hash string `json:"hash,omitempty"`
	// insertNumber counts refused insert operations of this incarnation.
	// +optional
	InsertNumber int64 `json:"insertNumber,omitempty"`
	// attemptUntil is the time until which an attempt to create it may still run.
	// +optional
	AttemptUntil *metav1.Time `json:"attemptUntil,omitempty"`
}
