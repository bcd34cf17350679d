package object_test

import (
	"context"
	"errors"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/object"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/ref"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// onePlace is a provider of which only Places is asked.
type onePlace struct{ provider.Provider }

func (onePlace) Places(context.Context, string, *crawl.ProxySpec) ([]string, error) {
	return []string{"zone-a"}, nil
}

// file is a providers file with one provider.
type file struct{}

func (file) Config(name string) string { return "config of " + name }

func (file) Get(name string) (provider.Provider, error) {
	if name != "known" {
		return nil, errors.New("unknown provider: the file has known")
	}
	return onePlace{}, nil
}

func newActivities(t *testing.T) (*object.Activities, string) {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	return &object.Activities{Client: c, Providers: file{}}, localtest.Namespace(t, c, "object")
}

func create(t *testing.T, a *object.Activities, p *crawl.Proxy) wire.ProxyRef {
	t.Helper()
	if err := a.Client.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return ref.Of(p)
}

func managed(ns, name string) *crawl.Proxy {
	return &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: crawl.ProxySpec{Provider: "known"}}
}
