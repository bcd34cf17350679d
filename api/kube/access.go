// Package kube is how all parts meet a Kubernetes cluster: the way into it, the types
// that they know there, and its identity.
package kube

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Load reads the access of a kubeconfig file; without a name it is that of
// $KUBECONFIG or of ~/.kube/config, else the cluster that this runs in.
func Load(file string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	return unlimited(clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig())
}

// Decode reads the access of the content of a kubeconfig file.
func Decode(data []byte) (*rest.Config, error) {
	return unlimited(clientcmd.RESTConfigFromKubeConfig(data))
}

// unlimited takes off the client's own limit of five requests a second: the API
// server's fairness does it better.
func unlimited(c *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	c.QPS = -1
	return c, nil
}
