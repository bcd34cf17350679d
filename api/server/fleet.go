package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
)

// Informers is what Watch needs of a cache.
type Informers interface {
	GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error)
}

// lender is told of the proxies that may be lent. It must not ask the fleet meanwhile.
type lender interface {
	Put(lease.Candidate)
	Remove(uid string)
	Synced()
}

// fleet follows the Proxies, and keeps the desk up to date with those that may be lent.
// Objects come from a cache: nobody changes them.
type fleet struct {
	desk lender

	// mu is held while the desk is told: an object that readers see, be it Draining, is never
	// newer than what the engine lends by.
	mu     sync.RWMutex
	byUID  map[string]*crawl.Proxy
	byName map[client.ObjectKey]*crawl.Proxy
	synced bool
}

func newFleet(d lender) *fleet {
	return &fleet{desk: d, byUID: map[string]*crawl.Proxy{}, byName: map[client.ObjectKey]*crawl.Proxy{}}
}

// watch follows proxies, and returns when all that there are have been seen.
func (f *fleet) watch(ctx context.Context, proxies Informers) error {
	informer, err := proxies.GetInformer(ctx, &crawl.Proxy{})
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(f)
	if err != nil {
		return err
	}
	select {
	case <-registration.HasSyncedChecker().Done():
	case <-ctx.Done():
		return fmt.Errorf("list them: %w", ctx.Err())
	}
	f.desk.Synced()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true
	return nil
}

// OnAdd implements toolscache.ResourceEventHandler.
func (f *fleet) OnAdd(obj any, _ bool) { f.put(obj) }

// OnUpdate implements toolscache.ResourceEventHandler.
func (f *fleet) OnUpdate(_, obj any) { f.put(obj) }

// OnDelete implements toolscache.ResourceEventHandler.
func (f *fleet) OnDelete(obj any) {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if p, ok := obj.(*crawl.Proxy); ok {
		f.remove(p)
	}
}

func (f *fleet) put(obj any) {
	p, ok := obj.(*crawl.Proxy)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if former := f.byName[client.ObjectKeyFromObject(p)]; former != nil && former.UID != p.UID { // its deletion was missed
		f.forget(former)
	}
	if p.DeletionTimestamp.IsZero() {
		f.desk.Put(candidateOf(p))
	} else { // its instance is going: so are its leases
		f.desk.Remove(string(p.UID))
	}
	f.byName[client.ObjectKeyFromObject(p)] = p
	f.byUID[string(p.UID)] = p
}

func (f *fleet) remove(p *crawl.Proxy) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(p)
}

// forget takes p out, with mu held.
func (f *fleet) forget(p *crawl.Proxy) {
	f.desk.Remove(string(p.UID))
	delete(f.byUID, string(p.UID))
	if key := client.ObjectKeyFromObject(p); f.byName[key] != nil && f.byName[key].UID == p.UID {
		delete(f.byName, key)
	}
}

// known says whether all proxies have been seen.
func (f *fleet) known() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.synced
}

// uid returns the proxy with that UID, nil if it is gone.
func (f *fleet) uid(uid string) *crawl.Proxy {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byUID[uid]
}

// named returns the proxy of that name, nil if there is none.
func (f *fleet) named(namespace, name string) *crawl.Proxy {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byName[client.ObjectKey{Namespace: namespace, Name: name}]
}

// sharing returns the UIDs of the proxies that have the same credentials as p.
func (f *fleet) sharing(p *crawl.Proxy) []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	uids := []string{string(p.UID)}
	for uid, o := range f.byUID {
		if ref := o.Spec.AuthSecretRef; ref != nil && o.UID != p.UID && o.Namespace == p.Namespace && ref.Name == p.Spec.AuthSecretRef.Name {
			uids = append(uids, uid)
		}
	}
	return uids
}

// all returns the proxies in any order.
func (f *fleet) all() []*crawl.Proxy {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Collect(maps.Values(f.byUID))
}

// sorted returns the proxies by namespace and name.
func (f *fleet) sorted() []*crawl.Proxy {
	return slices.SortedFunc(slices.Values(f.all()), func(a, b *crawl.Proxy) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}
