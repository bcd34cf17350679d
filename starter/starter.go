// Package starter watches objects and wakes their workflows. It writes nothing to
// Kubernetes and decides nothing: the workflow reads the truth itself.
package starter

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update

// workers is how many signals may be under way at a time.
const workers = 16

// secretIndex finds the Proxies that refer to a Secret.
const secretIndex = "spec.secrets"

// SecretMetadata is the type under which Secrets are cached: without their data.
func SecretMetadata() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("Secret"))
	m.APIVersion, m.Kind = "v1", "Secret"
	return m
}

// CacheByObject restricts the manager's cache to labelled Secrets.
func CacheByObject() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		SecretMetadata(): {Label: labels.SelectorFromSet(labels.Set{crawl.LabelCloudInit: "true"})},
	}
}

// Add puts the watch on mgr.
func Add(ctx context.Context, mgr manager.Manager, signaller *Signaller) error {
	w := &watch{reader: mgr.GetClient(), signaller: signaller, sent: map[string]sent{}, now: realNow}
	err := mgr.GetFieldIndexer().IndexField(ctx, &crawl.Proxy{}, secretIndex, func(o client.Object) []string {
		p, ok := o.(*crawl.Proxy)
		if !ok {
			return nil
		}
		return p.SecretNames()
	})
	if err != nil {
		return fmt.Errorf("index Proxies by Secret: %w", err)
	}
	c, err := controller.NewTyped("proxy", mgr, controller.TypedOptions[wire.ProxyRef]{Reconciler: w, MaxConcurrentReconciles: workers})
	if err != nil {
		return fmt.Errorf("set up the watch on Proxies: %w", err)
	}
	if err := c.Watch(source.TypedKind(mgr.GetCache(), &crawl.Proxy{}, proxyEvents())); err != nil {
		return fmt.Errorf("watch Proxies: %w", err)
	}
	if err := c.Watch(source.TypedKind(mgr.GetCache(), SecretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(w.ofSecret))); err != nil {
		return fmt.Errorf("watch labelled Secrets: %w", err)
	}
	return nil
}

// proxyEvents names an object by its UID too: after a deletion and a new creation
// of the same name, both matter.
func proxyEvents() handler.TypedEventHandler[*crawl.Proxy, wire.ProxyRef] {
	type queue = workqueue.TypedRateLimitingInterface[wire.ProxyRef]
	return handler.TypedFuncs[*crawl.Proxy, wire.ProxyRef]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*crawl.Proxy], q queue) { q.Add(ref.Of(e.Object)) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*crawl.Proxy], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				q.Add(ref.Of(e.ObjectOld))
			}
			q.Add(ref.Of(e.ObjectNew))
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*crawl.Proxy], q queue) { q.Add(ref.Of(e.Object)) },
	}
}
