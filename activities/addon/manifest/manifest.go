// Package manifest has the words for what an add-on was rendered to: objects and hooks.
package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Set is what one render gives, in its order.
type Set struct {
	Objects []Object
	Hooks   []Hook
}

// Object is one object of a set. It is not changed after it was made.
type Object struct {
	*unstructured.Unstructured

	// Source is the template or file that it comes from, as chart/templates/name.yaml.
	Source string
	// CRD is set for what a chart has in its crds folder, which Helm installs first.
	CRD bool
}

// ID tells an object from all others of a cluster, whatever version of its API is used.
type ID struct {
	schema.GroupKind

	Namespace, Name string
}

// ID of the object. Name is empty if the API server is to make one.
func (o Object) ID() ID {
	return ID{GroupKind: o.GroupVersionKind().GroupKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String is the ID for people, as Deployment.apps shop/web.
func (id ID) String() string {
	name := id.Name
	if id.Namespace != "" {
		name = id.Namespace + "/" + name
	}
	return id.GroupKind.String() + " " + name
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
