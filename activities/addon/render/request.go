package render

import (
	"cmp"
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
)

const (
	// helmVersion is the release of Helm that charts are told they are rendered by.
	helmVersion = "v3.22.0"
	// helmKubeVersion is the Kubernetes version that this release assumes if told nothing.
	helmKubeVersion = "v1.37.0"
)

// Request is what a chart is rendered for.
type Request struct {
	Release, Namespace string
	// Values are the user's; those of the chart are under them.
	Values map[string]any
	Capabilities

	// Lookup answers the lookup function of templates; nil answers as if there were nothing
	// in the cluster.
	Lookup Lookup
	// OwnAPIs shows the chart the APIs of its own crds folder, as `helm install` does, which
	// installs that folder first. `helm template` does not.
	OwnAPIs bool
	// Hash is keyed, as that of the store of sets: what it is told may hold secrets. Digest
	// and Lookup need it.
	Hash func([]byte) string
	// Secrets are those of Values. They are masked in errors, which quote what they are about.
	Secrets [][]byte
}

// errNoHash is of a request whose digests would tell secrets to whoever tries them out.
var errNoHash = errors.New("the request has no Hash for what may be secret")

// Capabilities are what a chart is told of the cluster.
type Capabilities struct {
	// KubeVersion is that of the API server, as v1.37.0 or v1.37.0+k3s1.
	KubeVersion string
	// APIVersions are all that the cluster has, as apps/v1 and apps/v1/Deployment.
	APIVersions []string
}

// Offline are the capabilities that `helm template` assumes without a cluster, with its flags
// --kube-version and --api-versions.
func Offline(kubeVersion string, apiVersions []string) (Capabilities, error) {
	v, err := chartutil.ParseKubeVersion(cmp.Or(kubeVersion, helmKubeVersion))
	if err != nil {
		return Capabilities{}, fmt.Errorf("invalid Kubernetes version %q, give one as v1.37.0: %w", kubeVersion, err)
	}
	known := chartutil.DefaultVersionSet
	return Capabilities{KubeVersion: v.Version, APIVersions: append(known[:len(known):len(known)], apiVersions...)}, nil
}

// forHelm is c in Helm's words. The version keeps what a distribution appended to it, for
// charts look for it.
func (c Capabilities) forHelm() (*chartutil.Capabilities, error) {
	v, err := chartutil.ParseKubeVersion(c.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("invalid Kubernetes version %q: %w", c.KubeVersion, err)
	}
	v.Version = c.KubeVersion
	helm := chartutil.DefaultCapabilities.HelmVersion
	helm.Version = helmVersion
	return &chartutil.Capabilities{KubeVersion: *v, APIVersions: c.APIVersions, HelmVersion: helm}, nil
}
