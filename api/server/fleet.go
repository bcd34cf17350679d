package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
	"example.com/fairlead/temporal/wire"
)

// fleet keeps the lease store up to date with the objects.
type fleet struct {
	reader client.Reader
	store  *lease.Store

	// mu keeps an older view from reaching the store after a newer one, which would
	// end leases of proxies that the older one does not have.
	mu sync.Mutex
	// proxies are the ones that the store knows, by UID.
	proxies map[string]*crawl.Proxy
}

// refresh tells the store what there is, and returns it by UID.
func (f *fleet) refresh(ctx context.Context) (map[string]*crawl.Proxy, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list crawl.ProxyList
	if err := f.reader.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list proxies: %w", err)
	}
	proxies := make(map[string]*crawl.Proxy, len(list.Items))
	candidates := make([]lease.Candidate, 0, len(list.Items))
	for i := range list.Items {
		p := &list.Items[i]
		proxies[string(p.UID)] = p
		if p.DeletionTimestamp.IsZero() { // its instance is going: so are its leases
			candidates = append(candidates, candidateOf(p))
		}
	}
	f.store.Sync(candidates)
	f.proxies = proxies
	return proxies, nil
}

// lent returns the proxy of a lease, nil if it is gone. It looks at what the store
// was told last: another request may have refreshed the fleet in the meantime.
func (f *fleet) lent(l lease.Lease) *crawl.Proxy {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proxies[l.Proxy.UID]
}

// sharing returns the UIDs of the proxies that have the same credentials as p.
func (f *fleet) sharing(p *crawl.Proxy) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	uids := []string{string(p.UID)}
	for uid, o := range f.proxies {
		if ref := o.Spec.AuthSecretRef; ref != nil && o.Namespace == p.Namespace && ref.Name == p.Spec.AuthSecretRef.Name {
			uids = append(uids, uid)
		}
	}
	return uids
}

func candidateOf(p *crawl.Proxy) lease.Candidate {
	host, port := addressOf(p)
	return lease.Candidate{
		Key: p.Namespace + "/" + p.Name, UID: string(p.UID),
		Host: host, Port: port, Scheme: string(p.Scheme()),
		Attributes: p.Spec.Attributes, MaxLeases: maxLeasesOf(p),
		Healthy: lendable(p), LatencyMillis: p.Status.LatencyMillis,
	}
}

// refOf is the proxy that c stands for.
func refOf(c lease.Candidate) wire.ProxyRef {
	namespace, name, _ := strings.Cut(c.Key, "/")
	return wire.ProxyRef{Namespace: namespace, Name: name, UID: c.UID}
}

// lendable says whether new leases of p may be granted.
func lendable(p *crawl.Proxy) bool {
	host, _ := addressOf(p)
	return host != "" && p.Status.IsTrue(crawl.ConditionReady) && p.DeletionTimestamp.IsZero() && p.Status.Phase != crawl.PhaseDraining
}

// addressOf is where clients of p connect to.
func addressOf(p *crawl.Proxy) (string, int32) {
	if p.Status.Port == 0 {
		return p.Status.IP, crawl.DefaultPort
	}
	return p.Status.IP, p.Status.Port
}

// defaultMaxLeases is the CRD's, for objects that were written before it had one.
const defaultMaxLeases = 10

func maxLeasesOf(p *crawl.Proxy) int {
	if p.Spec.MaxLeases == 0 {
		return defaultMaxLeases
	}
	return int(p.Spec.MaxLeases)
}

// sorted returns proxies by namespace and name.
func sorted(proxies map[string]*crawl.Proxy) []*crawl.Proxy {
	return slices.SortedFunc(maps.Values(proxies), func(a, b *crawl.Proxy) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
}
