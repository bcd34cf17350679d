package kube_test

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	addons "example.com/fairlead/api/addons/v1alpha1"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

func TestSchemeKnowsWhatFairleadReadsAndWrites(t *testing.T) {
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []runtime.Object{&crawl.Proxy{}, &crawl.ProviderHealth{}, &addons.Addon{}, &corev1.Secret{}, &corev1.Event{}} {
		if _, _, err := scheme.ObjectKinds(o); err != nil {
			t.Error(err)
		}
	}
}

func TestIdentityIsTheUIDOfKubeSystem(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	all := &corev1.NamespaceList{}
	if err := c.List(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, ns := range all.Items {
		if ns.Name == metav1.NamespaceSystem {
			want = string(ns.UID)
		}
	}
	if got, err := kube.Identity(t.Context(), c); got != want || got == "" || err != nil {
		t.Errorf("the identity is %q, %v, want %q", got, err, want)
	}
}
