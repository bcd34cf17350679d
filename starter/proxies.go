package starter

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// +kubebuilder:rbac:groups=crawl.example.com,resources=proxies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

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

// AddProxies puts the watch on Proxies, and on the Secrets that they refer to, on mgr.
func AddProxies(ctx context.Context, mgr manager.Manager, signaller *Signaller) error {
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
	secrets := source.TypedKind(mgr.GetCache(), SecretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(ofSecret(mgr.GetClient())))
	return add(mgr, proxies(signaller), secrets)
}

func proxies(s *Signaller) kind[*crawl.Proxy] {
	return kind[*crawl.Proxy]{
		resend:   time.Minute,
		name:     "Proxy",
		blank:    func() *crawl.Proxy { return &crawl.Proxy{} },
		inputs:   proxyInputs,
		observed: func(p *crawl.Proxy) string { return p.Status.ObservedInputs },
		changed:  func(ctx context.Context, k key) error { return s.Changed(ctx, k.proxy()) },
		gone:     func(ctx context.Context, k key) error { return s.Gone(ctx, k.proxy()) },
	}
}

func (k key) proxy() wire.ProxyRef {
	return wire.ProxyRef{Namespace: k.Namespace, Name: k.Name, UID: string(k.UID)}
}

func proxyInputs(ctx context.Context, cache client.Reader, p *crawl.Proxy) (string, error) {
	versions := map[string]string{}
	for _, name := range p.SecretNames() {
		s := SecretMetadata()
		err := cache.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: name}, s)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return "", fmt.Errorf("read the version of Secret %s/%s: %w", p.Namespace, name, err)
		default:
			versions[name] = s.ResourceVersion
		}
	}
	return p.Inputs(versions), nil
}

// ofSecret names the Proxies that refer to a Secret.
func ofSecret(cache client.Reader) handler.TypedMapFunc[*metav1.PartialObjectMetadata, key] {
	return func(ctx context.Context, s *metav1.PartialObjectMetadata) []key {
		var list crawl.ProxyList
		// A list from the cache fails only while the manager stops.
		if err := cache.List(ctx, &list, client.InNamespace(s.Namespace), client.MatchingFields{secretIndex: s.Name}); err != nil {
			return nil
		}
		var keys []key
		for i := range list.Items {
			keys = append(keys, keyOf(&list.Items[i]))
		}
		return keys
	}
}
