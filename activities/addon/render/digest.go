package render

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Digest tells the input of a render from any other. Only together are they all of it.
type Digest struct {
	// Content is of the chart, the values and the names of release and namespace.
	Content string
	// Cluster is of the Kubernetes version and the API list. If only it moved, random values
	// keep what they were; see Random.
	Cluster string
}

// Digest of the request for a chart, by Request.Hash: values may hold secrets.
func (r Request) Digest(source *Source) (Digest, error) { return r.DigestOf(source.Digest()) }

// DigestOf is Digest for the chart of which that is the Source.Digest.
func (r Request) DigestOf(chart string) (Digest, error) {
	content, err := r.sum(chart, r.Release, r.Namespace, r.Values)
	if err != nil {
		return Digest{}, fmt.Errorf("digest of the values of release %s: %w", r.Release, err)
	}
	apis := slices.Sorted(slices.Values(r.APIVersions))
	cluster, err := r.sum(r.KubeVersion, slices.Compact(apis), r.OwnAPIs)
	if err != nil {
		return Digest{}, fmt.Errorf("digest of the API list of release %s: %w", r.Release, err)
	}
	return Digest{Content: content, Cluster: cluster}, nil
}

func (r Request) sum(parts ...any) (string, error) {
	if r.Hash == nil {
		return "", errNoHash
	}
	data, err := json.Marshal(parts) // of maps, in the order of their keys
	if err != nil {
		return "", err
	}
	return r.Hash(data), nil
}
