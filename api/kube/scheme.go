package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// Scheme has all API types that Fairlead reads and writes.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, crawl.AddToScheme, addons.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the API types: %w", err)
		}
	}
	return scheme, nil
}

// FieldOwner is the field manager of all that Fairlead writes.
const FieldOwner = client.FieldOwner("fairlead")
