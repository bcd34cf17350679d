package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Proxy is one egress proxy: an instance that Fairlead creates and keeps
// (Managed), or an endpoint that somebody else runs (External).
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=px,categories=fairlead
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.provider`
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=`.status.ip`
// +kubebuilder:printcolumn:name="Latency",type=integer,JSONPath=`.status.latencyMillis`,description="Milliseconds, as last reported"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Exit IP",type=string,JSONPath=`.status.exitIP`,priority=1
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.sequence) || (has(self.status) && has(self.status.sequence) && self.status.sequence >= oldSelf.status.sequence)",message="status.sequence may not go backwards: a newer writer was here; read the object again"
type Proxy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the proxy should be.
	// +required
	Spec ProxySpec `json:"spec"`
	// status is what the proxy is. Only its workflow writes it.
	// +optional
	Status ProxyStatus `json:"status,omitempty"`
}

// ProxyList is a list of Proxy objects.
//
// +kubebuilder:object:root=true
type ProxyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Proxy `json:"items"`
}

// Mode says who runs the proxy.
//
// +kubebuilder:validation:Enum=Managed;External
type Mode string

// The modes.
const (
	// ModeManaged proxies are created, watched, replaced and deleted by Fairlead.
	ModeManaged Mode = "Managed"
	// ModeExternal proxies are only probed and lent.
	ModeExternal Mode = "External"
)

// ProxySpec is what a proxy should be.
//
// +kubebuilder:validation:XValidation:rule="self.mode != 'External' || has(self.endpoint)",message="mode External needs endpoint: say which host and port answer"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Managed' || (has(self.provider) && size(self.provider) > 0)",message="mode Managed needs provider: name one of the providers file"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Managed' || !has(self.endpoint)",message="endpoint is for mode External only: a Managed proxy's address comes from its provider"
// +kubebuilder:validation:XValidation:rule="self.mode != 'External' || !(has(self.provider) || has(self.cloudInit) || has(self.kubernetes) || has(self.gcp) || has(self.kvm))",message="provider, cloudInit, kubernetes, gcp and kvm are for mode Managed only: nothing is created for an External proxy"
// +kubebuilder:validation:XValidation:rule="(has(self.kubernetes) ? 1 : 0) + (has(self.gcp) ? 1 : 0) + (has(self.kvm) ? 1 : 0) <= 1",message="set only one of kubernetes, gcp and kvm: the block that belongs to the provider"
type ProxySpec struct {
	// mode is Managed (Fairlead runs the instance) or External (somebody else does).
	// +kubebuilder:default=Managed
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// provider is the name of a provider in the providers file. Required for Managed.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Provider string `json:"provider,omitempty"`

	// endpoint is where an External proxy answers.
	// +optional
	Endpoint *Endpoint `json:"endpoint,omitempty"`

	// port is the TCP port that a Managed proxy listens on.
	// +kubebuilder:default=3128
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`

	// authSecretRef names the Secret, in the same namespace, with the proxy's own
	// credentials under the keys username and password.
	// +optional
	AuthSecretRef *LocalSecretRef `json:"authSecretRef,omitempty"`

	// attributes are what leases select by, such as region: eu or kind: residential.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	Attributes map[string]string `json:"attributes,omitempty"`

	// maxLeases is how many leases may share the proxy at a time.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	// +optional
	MaxLeases int32 `json:"maxLeases,omitempty"`

	// cloudInit is the user data of a new instance; a change replaces the instance.
	// +optional
	CloudInit *CloudInit `json:"cloudInit,omitempty"`

	// kubernetes holds settings of providers of type kubernetes.
	// +optional
	Kubernetes *KubernetesSettings `json:"kubernetes,omitempty"`

	// gcp holds settings of providers of type gcp.
	// +optional
	GCP *GCPSettings `json:"gcp,omitempty"`

	// kvm holds settings of providers of type kvm.
	// +optional
	KVM *KVMSettings `json:"kvm,omitempty"`

	// healthCheck says how the proxy is probed, through itself.
	// +optional
	HealthCheck *HealthCheck `json:"healthCheck,omitempty"`

	// replacement says when the instance is replaced without being asked.
	// +optional
	Replacement *Replacement `json:"replacement,omitempty"`
}

// Scheme is how clients speak to a proxy.
//
// +kubebuilder:validation:Enum=http;https;socks5
type Scheme string

// The schemes.
const (
	SchemeHTTP   Scheme = "http"
	SchemeHTTPS  Scheme = "https"
	SchemeSOCKS5 Scheme = "socks5"
)

// Endpoint is where an External proxy answers.
type Endpoint struct {
	// host is a DNS name or an IP address, without port.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9.:_-]+$`
	// +required
	Host string `json:"host"`
	// port is the TCP port.
	// +kubebuilder:default=3128
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`
	// scheme is how clients speak to the proxy: http, https or socks5.
	// +kubebuilder:default=http
	// +optional
	Scheme Scheme `json:"scheme,omitempty"`
}

// LocalSecretRef names a Secret in the object's own namespace.
type LocalSecretRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// SecretKeyRef names a key of a Secret in the object's own namespace.
type SecretKeyRef struct {
	// name of the Secret, which must carry the label crawl.example.com/cloud-init: "true".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// key within the Secret.
	// +kubebuilder:default=userData
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// CloudInit is the user data of a new instance, inline or from a Secret.
//
// +kubebuilder:validation:XValidation:rule="has(self.userData) != has(self.secretRef)",message="set exactly one of cloudInit.userData and cloudInit.secretRef"
type CloudInit struct {
	// userData is inline cloud-init user data (not for secrets).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	// +optional
	UserData string `json:"userData,omitempty"`
	// secretRef names the Secret key that holds the user data.
	// +optional
	SecretRef *SecretKeyRef `json:"secretRef,omitempty"`
}

// KubernetesSettings are settings of providers of type kubernetes.
type KubernetesSettings struct {
	// image of the proxy container; default: the provider's.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`
	// resources of the proxy container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	// nodeSelector of the pod.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the pod.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// Firmware boots a virtual machine.
//
// +kubebuilder:validation:Enum=efi;bios
type Firmware string

// KVMSettings are settings of providers of type kvm.
type KVMSettings struct {
	// host of the provider to run on; default: the provider chooses.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Host string `json:"host,omitempty"`
	// image is the name of a base image of the provider.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Image string `json:"image,omitempty"`
	// cpus is the number of virtual CPUs.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	// +optional
	CPUs int32 `json:"cpus,omitempty"`
	// memoryMiB is the memory, in MiB.
	// +kubebuilder:validation:Minimum=64
	// +optional
	MemoryMiB int32 `json:"memoryMiB,omitempty"`
	// diskGiB is the size of the disk, in GiB.
	// +kubebuilder:validation:Minimum=1
	// +optional
	DiskGiB int32 `json:"diskGiB,omitempty"`
	// network is the libvirt network to join.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Network string `json:"network,omitempty"`
	// firmware is efi (default; secure boot off) or bios.
	// +kubebuilder:default=efi
	// +optional
	Firmware Firmware `json:"firmware,omitempty"`
}

// Address is the kind of external address of a Compute Engine instance.
//
// +kubebuilder:validation:Enum=ephemeral;static;none
type Address string

// GCPSettings are settings of providers of type gcp.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.zone) && has(self.zones))",message="set gcp.zone or gcp.zones, not both"
type GCPSettings struct {
	// zone to create the instance in.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Zone string `json:"zone,omitempty"`
	// zones to try in order; the next one when a zone has no room.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Zones []string `json:"zones,omitempty"`
	// machineType such as e2-micro. Required by the provider.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	MachineType string `json:"machineType,omitempty"`
	// image is the boot image or image family. Required by the provider.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`
	// diskSizeGB is the size of the boot disk, in GB.
	// +kubebuilder:validation:Minimum=1
	// +optional
	DiskSizeGB int64 `json:"diskSizeGB,omitempty"`
	// network to join; default: the project's default network.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Network string `json:"network,omitempty"`
	// subnetwork to join.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Subnetwork string `json:"subnetwork,omitempty"`
	// tags are network tags.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Tags []string `json:"tags,omitempty"`
	// spot asks for a preemptible instance.
	// +optional
	Spot bool `json:"spot,omitempty"`
	// serviceAccount is the e-mail of the instance's identity; default none.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// scopes of the service account.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Scopes []string `json:"scopes,omitempty"`
	// address is ephemeral (default), static (kept across replacements) or none.
	// +kubebuilder:default=ephemeral
	// +optional
	Address Address `json:"address,omitempty"`
	// ipv6 also asks for an IPv6 address.
	// +optional
	IPv6 bool `json:"ipv6,omitempty"`
	// shieldedVM turns on secure boot, vTPM and integrity monitoring.
	// +optional
	ShieldedVM bool `json:"shieldedVM,omitempty"`
}
