// Package v1alpha1 holds the API type of the group rendimiento.ai: Addon. It knows
// nothing of how it is made true.
//
// +kubebuilder:object:generate=true
// +groupName=rendimiento.ai
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "rendimiento.ai", Version: "v1alpha1"}

// AddToScheme registers the types of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Addon{}, &AddonList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
