package v1alpha1

import "time"

// Finalizer keeps an Addon until its objects are gone, or left alone as was asked.
const Finalizer = "rendimiento.ai/addon"

// FieldManager is who server-side apply says wrote the objects of an add-on.
const FieldManager = "rendimiento-addons"

// ServiceAccount is the identity that reads and writes the objects of add-ons.
const ServiceAccount = "rendimiento-addons"

// Labels.
const (
	// LabelAddon, on every applied object, names its add-on.
	LabelAddon = "rendimiento.ai/addon"
	// LabelGitOps "true" marks an Addon that was made from a definition in git.
	LabelGitOps = "rendimiento.ai/gitops"
)

// Annotations of an Addon.
const (
	// AnnotationSource is the definition that it was made from, as file@commit.
	AnnotationSource = "rendimiento.ai/source"
	// AnnotationUninstall "true" has a deletion remove the objects too.
	AnnotationUninstall = "rendimiento.ai/uninstall"
	// AnnotationApprovedBy says who wrote spec.approve, as package approve reads it.
	AnnotationApprovedBy = "rendimiento.ai/approved-by"
	// AnnotationHookRun tells on the object of a hook which run of it made it.
	AnnotationHookRun = "rendimiento.ai/hook-run"
	// AnnotationHookTTL is the ttlSecondsAfterFinished that the Job of a hook gets back when
	// its outcome was seen.
	AnnotationHookTTL = "rendimiento.ai/hook-ttl"
	// AnnotationPaused "true" stops everything but deletion, as spec.suspend does; what
	// comes from git never touches it.
	AnnotationPaused = "rendimiento.ai/paused"
)

// ConditionReady is True while the objects are as the source says, and work.
const ConditionReady = "Ready"

// DefaultHookTimeout is how long a hook may take unless spec.hookTimeout says otherwise.
const DefaultHookTimeout = 10 * time.Minute
