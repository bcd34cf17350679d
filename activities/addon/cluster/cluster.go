// Package cluster is the way of add-ons into a cluster: as their identity, with its kinds and
// its version.
package cluster

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/api/kube"
)

// Cluster is what add-ons are rendered for and applied to. It is safe for concurrent use.
type Cluster struct {
	Dynamic dynamic.Interface
	// Mapper asks the API server again for a kind that it does not know, though not at once
	// each time. The kinds of a group that could not be asked for are an error, not unknown.
	Mapper meta.ResettableRESTMapper
	Client client.WithWatch
	Logs   hooks.Logs

	served *served
}

// Open acts as the user identity, or if that is empty as whoever config says. A service
// account, as system:serviceaccount:NAMESPACE:NAME, gets its groups from the API server: to
// name them would take the right to impersonate groups.
func Open(config *rest.Config, identity string) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server's fairness does it better
	config.WarningHandler = rest.NoWarnings{}
	if identity != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: identity}
	}
	c, err := open(config)
	if err != nil {
		return nil, fmt.Errorf("open the cluster for add-ons: %w", err)
	}
	return c, nil
}

func open(config *rest.Config) (*Cluster, error) {
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfigAndClient(config, connections)
	if err != nil {
		return nil, err
	}
	c := &Cluster{served: newServed(found, time.Now)}
	c.Mapper = mapper{c.served}
	if c.Dynamic, err = dynamic.NewForConfigAndClient(config, connections); err != nil {
		return nil, err
	}
	if c.Client, err = newClient(config, connections, c.Mapper); err != nil {
		return nil, err
	}
	typed, err := kubernetes.NewForConfigAndClient(config, connections)
	if err != nil {
		return nil, err
	}
	c.Logs = hooks.PodLogs(typed)
	return c, nil
}

func newClient(config *rest.Config, connections *http.Client, m meta.RESTMapper) (client.WithWatch, error) {
	scheme, err := kube.Scheme()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{HTTPClient: connections, Scheme: scheme, Mapper: m})
}
