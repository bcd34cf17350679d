package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
)

// identityTimeout keeps a cluster that does not answer from holding up a claim.
const identityTimeout = 5 * time.Second

// clusterMark is between the namespace and the cluster of a place.
const clusterMark = "@"

// cluster is where the pods run. Its identity is the UID of its kube-system
// namespace, read once; the empty string for the Proxies' own cluster.
type cluster struct {
	client  client.Client
	foreign bool

	uid atomic.Pointer[string]
}

// suffix ends every place of the cluster.
func (c *cluster) suffix(ctx context.Context) (string, error) {
	if !c.foreign {
		return "", nil
	}
	if uid := c.uid.Load(); uid != nil {
		return clusterMark + *uid, nil
	}
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	uid, err := kube.Identity(ctx, c.client)
	if err != nil {
		return "", fmt.Errorf("ask the cluster of kubernetes.kubeconfig who it is: %w: %w", err, provider.ErrTransient)
	}
	c.uid.Store(&uid)
	return clusterMark + uid, nil
}

// Places has one place: the namespace, and the cluster unless it is the Proxies'.
func (p *Provider) Places(ctx context.Context, namespace string, _ *crawl.ProxySpec) ([]string, error) {
	suffix, err := p.cluster.suffix(ctx)
	if err != nil {
		return nil, err
	}
	return []string{cmp.Or(p.settings.Namespace, namespace) + suffix}, nil
}

// locate returns the suffix of the cluster when id can be looked for there. In
// another cluster than the one it was made in, an instance is not gone.
func (p *Provider) locate(ctx context.Context, id provider.ID) (suffix string, err error) {
	for _, part := range []struct{ what, value string }{{"name", id.Name}, {"namespace", key(id).Namespace}} {
		if problems := validation.IsDNS1123Label(part.value); len(problems) > 0 {
			return "", fmt.Errorf("%s %q of instance %s/%s: %s: %w",
				part.what, part.value, id.Place, id.Name, strings.Join(problems, "; "), provider.ErrPermanent)
		}
	}
	if suffix, err = p.cluster.suffix(ctx); err != nil {
		return "", err
	}
	if key(id).Namespace+suffix != id.Place {
		return "", fmt.Errorf("instance %s is in another cluster (%s) than the one that kubernetes.kubeconfig leads to now (%s): bring that back, or give the new cluster a provider of its own: %w",
			id.Name, id.Place, cmp.Or(strings.TrimPrefix(suffix, clusterMark), "the Proxies' own"), provider.ErrTransient)
	}
	return suffix, nil
}

// key names the pod of an instance.
func key(id provider.ID) client.ObjectKey {
	namespace, _, _ := strings.Cut(id.Place, clusterMark)
	return client.ObjectKey{Namespace: namespace, Name: id.Name}
}
