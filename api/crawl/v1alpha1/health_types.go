package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HealthCheck says how a proxy is probed: each probe goes through the proxy, on
// a connection of its own, with the proxy's own credentials.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.url) && has(self.urls))",message="set healthCheck.url or healthCheck.urls, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.quorum) || (has(self.urls) ? self.quorum <= size(self.urls) : self.quorum == 1)",message="healthCheck.quorum may not exceed the number of urls"
type HealthCheck struct {
	// url to fetch through the proxy; default: --default-probe-url.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s]+$`
	// +optional
	URL string `json:"url,omitempty"`
	// urls to fetch through the proxy; quorum of them must succeed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=2048
	// +kubebuilder:validation:items:Pattern=`^https?://[^\s]+$`
	// +listType=atomic
	// +optional
	URLs []string `json:"urls,omitempty"`
	// quorum is how many of urls must succeed; default: more than half.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Quorum int32 `json:"quorum,omitempty"`
	// expectedStatus is the HTTP status of a healthy answer.
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=599
	// +optional
	ExpectedStatus int32 `json:"expectedStatus,omitempty"`
	// bodyContains must stand in the first 64 KiB of the answer.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	BodyContains string `json:"bodyContains,omitempty"`
	// interval between probes, such as 30s; from 1s to 24h.
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="healthCheck.interval must be between 1s and 24h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
	// timeout of one probe, such as 10s; from 100ms to 5m.
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('5m')",message="healthCheck.timeout must be between 100ms and 5m"
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// slowAfter, such as 2s, marks answers slower than this as slow (still healthy).
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="healthCheck.slowAfter must be positive"
	// +optional
	SlowAfter *metav1.Duration `json:"slowAfter,omitempty"`
	// successThreshold is how many probes in a row make a proxy healthy.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	SuccessThreshold int32 `json:"successThreshold,omitempty"`
	// failureThreshold is how many failed probes in a row make a proxy unhealthy.
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
	// caSecretRef names the Secret whose key ca.crt signs https probe targets.
	// +optional
	CASecretRef *LocalSecretRef `json:"caSecretRef,omitempty"`
	// exit checks the address that targets see.
	// +optional
	Exit *ExitCheck `json:"exit,omitempty"`
}

// ExitCheck says what the exit address of a proxy must be.
type ExitCheck struct {
	// echoURL answers with the caller's address as plain text.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s]+$`
	// +optional
	EchoURL string `json:"echoURL,omitempty"`
	// expect is the address or CIDR that the exit address must be in.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Expect string `json:"expect,omitempty"`
	// unique asks that no other proxy leaves by the same address.
	// +optional
	Unique bool `json:"unique,omitempty"`
}

// Replacement says when an instance is replaced without being asked.
type Replacement struct {
	// maxAge of an instance.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m')",message="replacement.maxAge must be at least 1m"
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`
	// drainTimeout is how long a replacement waits for the last lease.
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="replacement.drainTimeout must be between 0s and 24h"
	// +optional
	DrainTimeout *metav1.Duration `json:"drainTimeout,omitempty"`
	// bans replaces the instance when leaseholders report many bans.
	// +optional
	Bans *BanLimit `json:"bans,omitempty"`
}

// BanLimit is a number of bans within a time.
type BanLimit struct {
	// count of banned reports.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +required
	Count int32 `json:"count"`
	// window in which they must come together.
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="replacement.bans.window must be at least 1s"
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
}
