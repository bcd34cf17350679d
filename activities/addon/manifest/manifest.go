// Package manifest has the words for what an add-on was rendered to: objects and hooks.
package manifest

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Set is what one render gives.
type Set struct {
	// Objects are in the order of the render. See Stages for that of an install.
	Objects []Object
	// Hooks are in the order in which Helm runs those of an event: by weight, then by the name
	// of their document, then by kind. Whoever runs them only leaves out those of other events.
	Hooks []Hook
}

// Object is one object of a set. It is not changed after it was made.
type Object struct {
	*unstructured.Unstructured

	// Source is the template or file that it comes from, as chart/templates/name.yaml.
	Source string
	// CRD is set for what a chart has in its crds folder, which Helm installs first.
	CRD bool
}

// Event is when a hook runs. The words are Helm's.
type Event string

// The events that Fairlead has hooks run at.
const (
	PreInstall  Event = "pre-install"
	PostInstall Event = "post-install"
	PreUpgrade  Event = "pre-upgrade"
	PostUpgrade Event = "post-upgrade"
	PreDelete   Event = "pre-delete"
	PostDelete  Event = "post-delete"
)

// DeletePolicy is when the object of a hook is deleted. The words are Helm's.
type DeletePolicy string

// The delete policies of Helm.
const (
	BeforeHookCreation DeletePolicy = "before-hook-creation"
	HookSucceeded      DeletePolicy = "hook-succeeded"
	HookFailed         DeletePolicy = "hook-failed"
)

// LogPolicy is when what the pods of a hook print is kept. The words are Helm's.
type LogPolicy string

// The log policies of Helm.
const (
	LogSucceeded LogPolicy = "hook-succeeded"
	LogFailed    LogPolicy = "hook-failed"
)

// Hook is an object that is created at certain events, and is no part of the add-on otherwise.
type Hook struct {
	Object

	Events []Event
	Weight int
	// DeletePolicies is never empty: BeforeHookCreation is the default.
	DeletePolicies []DeletePolicy
	LogPolicies    []LogPolicy
}
