// Package v1alpha1 holds the API types of the group crawl.example.com: Proxy
// and ProviderHealth. It knows nothing of how they are made true.
//
// +kubebuilder:object:generate=true
// +groupName=crawl.example.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "crawl.example.com", Version: "v1alpha1"}

// AddToScheme registers the types of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Proxy{}, &ProxyList{}, &ProviderHealth{}, &ProviderHealthList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
