package wire

// Phases of a Proxy; the API type lists the same.
const (
	PhasePending      = "Pending"
	PhaseProvisioning = "Provisioning"
	PhaseReady        = "Ready"
	PhaseUnhealthy    = "Unhealthy"
	PhaseDraining     = "Draining"
	PhaseReplacing    = "Replacing"
	PhaseDeleting     = "Deleting"
	PhaseWaiting      = "Waiting"
	PhaseFailed       = "Failed"
)

// Condition types of a Proxy.
const (
	ConditionProvisioned = "Provisioned"
	ConditionHealthy     = "Healthy"
	ConditionReady       = "Ready"
)

// Condition states.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// Reasons of the condition Provisioned.
const (
	ReasonProvisioning = "Provisioning"
	ReasonCreated      = "Created"
	ReasonReplacing    = "Replacing"
	ReasonDeleting     = "Deleting"
	ReasonDraining     = "Draining"
	ReasonBudget       = "CreationBudget"
	ReasonQuota        = "QuotaExceeded"
	ReasonPermanent    = "PermanentError"
	ReasonCloudInit    = "CloudInitError"
	ReasonCredentials  = "CredentialsError"
	ReasonExternal     = "ExternalEndpoint"
	ReasonTransient    = "TransientError"
	ReasonUnavailable  = "ProviderUnavailable"
	ReasonWrongCluster = "WrongCluster"
	ReasonPaused       = "Paused"
	// ReasonBanned: the instance is being replaced because its address was banned; of an
	// External proxy, that it should be.
	ReasonBanned = "Banned"
	// ReasonSameAddress: replacing it gave the banned address again.
	ReasonSameAddress = "SameAddress"
)

// Reasons of the condition Healthy, beside those of the verdicts.
const (
	ReasonNotProbed = "NotProbed"
	ReasonHealthy   = "Healthy"
)

// verdicts of a probe, with their condition reasons.
var verdicts = []struct{ verdict, reason string }{
	{"healthy", ReasonHealthy},
	{"slow", "Slow"},
	{"dead", "Dead"},
	{"auth", "AuthenticationRequired"},
	{"forbidden", "ForbiddenByProxy"},
	{"blocked", "BlockedByTarget"},
	{"wrong-exit", "WrongExit"},
}

// Annotations that a message names as the remedy; the API type defines the same.
const (
	AnnotationPaused      = "crawl.example.com/paused"
	AnnotationReplace     = "crawl.example.com/replace"
	AnnotationSkipCleanup = "crawl.example.com/skip-cleanup"
)

const (
	// MaxReplaceValue bounds the value of the replace annotation, in bytes; the API type
	// defines the same.
	MaxReplaceValue = 256
	// MaxAgePrefix begins that value when a sweep found the instance too old.
	MaxAgePrefix = "max-age/"
)
