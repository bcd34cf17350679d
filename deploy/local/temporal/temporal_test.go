package temporal_test

import (
	"os"
	"strings"
	"testing"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/deploy/local/temporal"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

func TestEveryNamespaceHasTheSearchAttributes(t *testing.T) {
	address, fresh := localtest.Temporal(t)
	_, another := localtest.Temporal(t)
	if fresh == another {
		t.Fatalf("namespace %s was handed out twice", fresh)
	}
	for _, namespace := range []string{"default", fresh, another} {
		c, err := client.DialContext(t.Context(), client.Options{HostPort: address, Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		answer, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []interface{ GetName() string }{
			wire.KeyProxyPhase, wire.KeyProvider, wire.KeyKubeNamespace, wire.KeyKubeName, wire.KeyReason, wire.KeyHealthy,
		} {
			if _, found := answer.GetCustomAttributes()[want.GetName()]; !found {
				t.Errorf("namespace %s has no search attribute %s", namespace, want.GetName())
			}
		}
	}
}

func TestServerThatCannotStartIsReported(t *testing.T) {
	free, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	defer free.Release()
	group, err := child.NewGroup(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = temporal.Start(t.Context(), group, temporal.Options{
		Dir: t.TempDir(), BinDir: localtest.Dir(t), Port: free.Ports[0], Namespaces: []string{"not/a/name?"}, UIPort: free.Ports[0],
	})
	if err == nil || !strings.Contains(err.Error(), "temporal ended unexpectedly") {
		t.Errorf("start gave %v", err)
	}
	if err := group.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
