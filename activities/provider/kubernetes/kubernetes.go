// Package kubernetes is the provider of Squid pods: one pod for each instance, and
// a Secret beside it where the proxy asks for credentials.
package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/kube"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;patch;delete

// Type is the type of this provider in the providers file.
const Type = "kubernetes"

// Settings are the block "kubernetes" of the providers file.
type Settings struct {
	// Namespace of all pods; default: each Proxy's own.
	Namespace string `json:"namespace,omitempty"`
	// Image of Squid, unless the Proxy names another. Required.
	Image string `json:"image"`
	// Kubeconfig is the path of an access to another cluster than the Proxies'.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// Options are what the program gives to a provider.
type Options struct {
	Settings
	// Name of the provider: several may use one namespace.
	Name string
	// ClusterID is the cluster whose instances these are.
	ClusterID string
	// Client reads and writes pods and Secrets live, without a cache.
	Client client.Client
}

// Provider runs instances as pods.
type Provider struct {
	name      string
	settings  Settings
	clusterID string
	client    client.Client
	cluster   *cluster
}

var _ provider.Provider = (*Provider)(nil)

// Builder makes providers of this type from their settings. own is the access to
// the Proxies' cluster.
func Builder(own *rest.Config, clusterID string) provider.Builder {
	return func(name string, settings json.RawMessage) (provider.Provider, error) {
		o := Options{Name: name, ClusterID: clusterID}
		if err := provider.DecodeSettings(settings, &o.Settings); err != nil {
			return nil, fmt.Errorf("settings %q: %w", Type, err)
		}
		config := own
		if o.Kubeconfig != "" {
			var err error
			if config, err = kube.Load(o.Kubeconfig); err != nil {
				return nil, fmt.Errorf("kubernetes.kubeconfig: %w", err)
			}
		}
		c, err := client.New(config, client.Options{})
		if err != nil {
			return nil, fmt.Errorf("make a Kubernetes client: %w", err)
		}
		o.Client = c
		return New(o)
	}
}

// New checks o and returns its provider. It calls no server.
func New(o Options) (*Provider, error) {
	if o.Image == "" {
		return nil, errors.New("kubernetes.image is missing: name an image of Squid")
	}
	if o.ClusterID == "" {
		return nil, errors.New("the provider must know which cluster its instances belong to")
	}
	if problems := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(problems) > 0 {
		return nil, fmt.Errorf("kubernetes.namespace %q: %s", o.Namespace, strings.Join(problems, "; "))
	}
	return &Provider{
		name: o.Name, settings: o.Settings, clusterID: o.ClusterID, client: o.Client,
		cluster: &cluster{client: o.Client, foreign: o.Kubeconfig != ""},
	}, nil
}

// Prepare has nothing to do: nodes pull images.
func (p *Provider) Prepare(context.Context, provider.Request) error { return nil }
