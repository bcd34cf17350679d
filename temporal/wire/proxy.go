package wire

import "time"

// ProxyRef names one Proxy object for good: another object of the same name has
// another UID.
type ProxyRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

func (r ProxyRef) String() string { return r.Namespace + "/" + r.Name }

// Claim is the truth about a Proxy, read once: what it should be, what its status
// says, and in which cluster.
type Claim struct {
	// Gone: no object with this UID exists any more.
	Gone      bool   `json:"gone,omitempty"`
	ClusterID string `json:"clusterID"`
	// Unserved are the providers of the ledger that the providers file does not have. It
	// is told of objects that are being deleted.
	Unserved []string `json:"unserved,omitempty"`
	// Run of the workflow that read it: another one after a reset.
	Run string `json:"run,omitempty"`

	Generation  int64  `json:"generation,omitempty"`
	Inputs      string `json:"inputs,omitempty"`
	Deleting    bool   `json:"deleting,omitempty"`
	Paused      bool   `json:"paused,omitempty"`
	SkipCleanup bool   `json:"skipCleanup,omitempty"`
	// Replace is the value of the annotation that asks for a new instance.
	Replace string `json:"replace,omitempty"`

	External bool      `json:"external,omitempty"`
	Endpoint *Endpoint `json:"endpoint,omitempty"`

	Provider string `json:"provider,omitempty"`
	// ProviderConfig is a hash of what the providers file says of the provider.
	ProviderConfig string `json:"providerConfig,omitempty"`
	// Places where the instance may live, best first.
	Places []string `json:"places,omitempty"`
	// InstanceName is the name of every instance of this Proxy.
	InstanceName string `json:"instanceName,omitempty"`
	Hash         string `json:"hash,omitempty"`
	// CredentialsVersion is that of the Secret with the proxy's own credentials.
	CredentialsVersion string `json:"credentialsVersion,omitempty"`
	// DrainTimeout is how long a replacement waits for the last lease.
	DrainTimeout time.Duration `json:"drainTimeout,omitempty"`
	// Bans is the limit of banned reports; nil for none.
	Bans *BanLimit `json:"bans,omitempty"`
	// Problem keeps the desired state from being acted on until something changes.
	Problem *Problem `json:"problem,omitempty"`

	Stored ProxyStatus `json:"stored"`
}

// Endpoint is where clients connect to.
type Endpoint struct {
	Host string `json:"host"`
	Port int32  `json:"port"`
}

// Problem is a reason in one word and a message with a remedy.
type Problem struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Entry is one entry of the ledger: an instance that exists or may exist.
type Entry struct {
	Provider     string `json:"provider"`
	Place        string `json:"place,omitempty"`
	Name         string `json:"name"`
	Incarnation  int64  `json:"incarnation"`
	Hash         string `json:"hash,omitempty"`
	InsertNumber int64  `json:"insertNumber,omitempty"`
	// AttemptUntil is the time until which an attempt to create it may still run;
	// zero when none can.
	AttemptUntil time.Time `json:"attemptUntil,omitzero"`
}

// Same says whether e and o are about the same instance.
func (e Entry) Same(o Entry) bool {
	return e.Provider == o.Provider && e.Place == o.Place && e.Name == o.Name && e.Incarnation == o.Incarnation
}

// ProxyStatus is the status of a Proxy as its workflow publishes it.
type ProxyStatus struct {
	Sequence           int64     `json:"sequence"`
	Phase              string    `json:"phase,omitempty"`
	ObservedGeneration int64     `json:"observedGeneration,omitempty"`
	ObservedInputs     string    `json:"observedInputs,omitempty"`
	ObservedReplace    string    `json:"observedReplace,omitempty"`
	ProviderID         string    `json:"providerID,omitempty"`
	Ledger             []Entry   `json:"ledger,omitempty"`
	Host               string    `json:"host,omitempty"`
	Port               int32     `json:"port,omitempty"`
	SpecHash           string    `json:"specHash,omitempty"`
	CredentialsVersion string    `json:"credentialsVersion,omitempty"`
	LatencyMillis      int64     `json:"latencyMillis,omitempty"`
	ProbedAt           time.Time `json:"probedAt,omitzero"`
	ExitIP             string    `json:"exitIP,omitempty"`
	// Recreations are the last times at which the instance was lost by itself.
	Recreations []time.Time `json:"recreations,omitempty"`
	Conditions  []Condition `json:"conditions,omitempty"`
}

// Condition of a Proxy.
type Condition struct {
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
}

// PublishInput is the input of ActivityPublish.
type PublishInput struct {
	Proxy  ProxyRef    `json:"proxy"`
	Status ProxyStatus `json:"status"`
}

// ReplaceInput is the input of ActivityReplace.
type ReplaceInput struct {
	Proxy ProxyRef `json:"proxy"`
	// Value of the replace annotation.
	Value string `json:"value"`
}

// ReleaseInput is the input of ActivityRelease. It was a ProxyRef alone: its fields stay
// at the top.
type ReleaseInput struct {
	ProxyRef
	// Left are the instances that are abandoned.
	Left []Abandoned `json:"left,omitempty"`
}

// Abandoned is an instance that is left behind.
type Abandoned struct {
	Entry
	// Marked: it could not be reached to take our marks off, by which a sweep may find it.
	Marked bool `json:"marked,omitempty"`
}

// Health is the payload of SignalHealth.
type Health struct {
	Incarnation int64 `json:"incarnation,omitempty"`
	Healthy     bool  `json:"healthy"`
	// Verdict in one word: healthy, slow, dead, auth, forbidden, blocked, wrong-exit.
	Verdict       string    `json:"verdict"`
	Message       string    `json:"message,omitempty"`
	LatencyMillis int64     `json:"latencyMillis,omitempty"`
	ExitIP        string    `json:"exitIP,omitempty"`
	ProbedAt      time.Time `json:"probedAt"`
}

// Reason is the condition reason of the verdict.
func (h Health) Reason() string {
	for _, v := range verdicts {
		if h.Verdict == v.verdict || h.Verdict == v.reason { // or read back from a status
			return v.reason
		}
	}
	return ReasonNotProbed
}

// InstanceInput is the input of the activities on instances.
type InstanceInput struct {
	Proxy     ProxyRef `json:"proxy"`
	ClusterID string   `json:"clusterID"`
	Entry     Entry    `json:"entry"`
	// Quiet calls wait out a trouble that was told already.
	Quiet bool `json:"quiet,omitempty"`
	// Patience of a wait: after it, an instance that says something else than Told, or
	// is still there, is returned as it is.
	Patience time.Duration `json:"patience,omitempty"`
	Told     string        `json:"told,omitempty"`
}

// Instance states, as providers tell them.
const (
	StateProvisioning = "Provisioning"
	StateRunning      = "Running"
	StateStopped      = "Stopped"
	StateHalted       = "Halted"
	StateUnknown      = "Unknown"
	// StateGone: the provider does not have the instance.
	StateGone = "Gone"
)

// Instance is what a provider said of an instance.
type Instance struct {
	State      string `json:"state"`
	Message    string `json:"message,omitempty"`
	ProviderID string `json:"providerID,omitempty"`
	Host       string `json:"host,omitempty"`
	Port       int32  `json:"port,omitempty"`
	// Hash as kept on the instance.
	Hash string `json:"hash,omitempty"`
	// Attempt is the attempt of the activity that said so; with more than one, an
	// earlier one may still be running somewhere.
	Attempt int32 `json:"attempt,omitempty"`
	// Run of the workflow that made it; only a Create says so.
	Run string `json:"run,omitempty"`
}
