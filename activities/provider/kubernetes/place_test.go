package kubernetes_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/kubernetes"
	"example.com/fairlead/activities/provider/providertest"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// abroad is a provider with a kubeconfig, which leads to the same API server.
func (b *backend) abroad(name, clusterID string) provider.Provider {
	b.t.Helper()
	p, err := kubernetes.New(kubernetes.Options{
		Settings:  kubernetes.Settings{Namespace: b.namespace, Image: "localhost/squid:dev", Kubeconfig: "elsewhere"},
		ClusterID: clusterID,
		Client:    b.client,
		Name:      name,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *backend) place(p provider.Provider) string {
	b.t.Helper()
	places, err := p.Places(b.t.Context(), "crawlers", &crawl.ProxySpec{})
	if err != nil || len(places) != 1 {
		b.t.Fatalf("the places are %q, %v", places, err)
	}
	return places[0]
}

func TestContractInAnotherCluster(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		b := newBackend(t)
		h := b.harness(func(b *backend, clusterID string) provider.Provider { return b.abroad("pods", clusterID) })
		h.Place = b.place(b.abroad("pods", providertest.Cluster))
		return h
	})
}

func TestAnInstanceOfAnotherClusterIsNotGone(t *testing.T) {
	b := newBackend(t)
	p := b.abroad("pods", providertest.Cluster)
	var ns corev1.Namespace
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: "kube-system"}, &ns); err != nil {
		t.Fatal(err)
	}
	if got, want := b.place(p), b.namespace+"@"+string(ns.UID); got != want {
		t.Errorf("the place is %q, want %q", got, want)
	}
	req := b.request("a")
	req.Place = b.namespace + "@" + providertest.OtherCluster // where the kubeconfig led to before
	_, getErr := p.Get(t.Context(), req.ID)
	for what, err := range map[string]error{"get": getErr, "delete": p.Delete(t.Context(), req.ID)} {
		if !errors.Is(provider.Class(err), provider.ErrTransient) || !strings.Contains(err.Error(), "kubernetes.kubeconfig") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestProvidersOfOneNamespaceListTheirOwn(t *testing.T) {
	b := newBackend(t)
	one, other := b.abroad("one", providertest.Cluster), b.abroad("other", providertest.Cluster)
	req := b.request("a")
	req.Place = b.place(one)
	if _, err := one.Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for want, p := range map[int]provider.Provider{1: one, 0: other} {
		if l, err := p.List(t.Context()); err != nil || len(l.Instances) != want {
			t.Errorf("the list is %+v, %v, want %d", l, err, want)
		}
	}
}
