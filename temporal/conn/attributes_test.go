package conn_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

func TestEnsureSearchAttributes(t *testing.T) {
	address, namespace := localtest.Temporal(t)
	c, err := conn.Dial(t.Context(), conn.Options{Address: address, Namespace: namespace, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name := wire.KeyProvider.GetName()
	_, err = c.OperatorService().RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{Namespace: namespace, SearchAttributes: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		have, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		return have.CustomAttributes[name] == wire.KeyProvider.GetValueType()
	}
	until(t, "the attribute is gone", func() bool { return !has() }) // the server has a cache
	if err := conn.EnsureSearchAttributes(t.Context(), c, namespace); err != nil {
		t.Fatal(err)
	}
	until(t, "the attribute is back", has)
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
