package v1alpha1

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Suspended says whether everything but deletion is to stop.
func (a *Addon) Suspended() bool {
	return a.Spec.Suspend || a.Annotations[AnnotationPaused] == "true"
}

// Uninstalls says whether a deletion of a removes its objects too.
func (a *Addon) Uninstalls() bool { return a.Annotations[AnnotationUninstall] == "true" }

// Release is the name of the Helm release.
func (a *Addon) Release() string {
	if a.Spec.ReleaseName != "" {
		return a.Spec.ReleaseName
	}
	return a.Name
}

// HookLimit is how long one hook may take.
func (s *AddonSpec) HookLimit() time.Duration {
	if s.HookTimeout == 0 {
		return DefaultHookTimeout
	}
	return time.Duration(s.HookTimeout) * time.Second
}

// Ready says whether the objects are as the source says, and work.
func (s *AddonStatus) Ready() bool { return meta.IsStatusConditionTrue(s.Conditions, ConditionReady) }

// ReadyForDependents says whether add-ons that depend on a may be synced.
func (a *Addon) ReadyForDependents() bool {
	return a.DeletionTimestamp.IsZero() && a.Status.Phase == PhaseSynced && a.Status.Ready() &&
		a.Status.ObservedGeneration == a.Generation
}
