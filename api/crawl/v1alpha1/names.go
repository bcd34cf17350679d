package v1alpha1

// Finalizer keeps a Proxy until its instances are gone.
const Finalizer = "crawl.example.com/proxy"

// Annotations that people set on a Proxy.
const (
	// AnnotationSkipCleanup "true" abandons the instances of a Proxy that is being
	// deleted and lets the object go.
	AnnotationSkipCleanup = "crawl.example.com/skip-cleanup"
	// AnnotationPaused "true" stops everything but deletion.
	AnnotationPaused = "crawl.example.com/paused"
	// AnnotationReplace asks for a new instance each time its value changes.
	AnnotationReplace = "crawl.example.com/replace"
)

// LabelCloudInit "true" marks a Secret that a Proxy may read; only labelled
// Secrets are watched, so only their rotation is noticed at once.
const LabelCloudInit = "crawl.example.com/cloud-init"

// Keys of the Secret that authSecretRef names.
const (
	SecretKeyUsername = "username"
	SecretKeyPassword = "password" // #nosec G101 -- the name of a key, not a password
)

// Condition types of a Proxy.
const (
	ConditionProvisioned = "Provisioned"
	ConditionHealthy     = "Healthy"
	ConditionReady       = "Ready"
)

// DefaultPort is the port a proxy listens on unless spec.port says otherwise.
const DefaultPort = 3128
