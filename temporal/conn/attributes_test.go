package conn_test

import (
	"os"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// attribute is one that Fairlead needs, in a namespace of its own.
type attribute struct {
	t       *testing.T
	client  client.Client
	options conn.Options
}

func newAttribute(t *testing.T) attribute {
	t.Helper()
	address, namespace := localtest.Temporal(t)
	a := attribute{t: t, options: conn.Options{Address: address, Namespace: namespace, Log: localtest.Quiet()}}
	a.client = a.dial()
	return a
}

func (a attribute) dial() client.Client {
	a.t.Helper()
	c, err := conn.Dial(a.t.Context(), a.options)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(c.Close)
	return c
}

var name = wire.KeyProvider.GetName()

// become gives the attribute another type, or none, and waits for the server's cache.
func (a attribute) become(kind enumspb.IndexedValueType) {
	a.t.Helper()
	operator, namespace := a.client.OperatorService(), a.options.Namespace
	if _, err := operator.RemoveSearchAttributes(a.t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: []string{name},
	}); err != nil {
		a.t.Fatal(err)
	}
	a.becomes(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED)
	if kind == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
		return
	}
	if _, err := operator.AddSearchAttributes(a.t.Context(), &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: map[string]enumspb.IndexedValueType{name: kind},
	}); err != nil {
		a.t.Fatal(err)
	}
	a.becomes(kind)
}

func (a attribute) becomes(want enumspb.IndexedValueType) {
	a.t.Helper()
	eventually.Sees(a.t, name+" becomes "+want.String(), time.Minute, func() (bool, string) {
		have, err := a.client.OperatorService().ListSearchAttributes(a.t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: a.options.Namespace})
		if err != nil {
			a.t.Fatal(err)
		}
		return have.CustomAttributes[name] == want, have.CustomAttributes[name].String()
	})
}

func TestMissingSearchAttributeIsAdded(t *testing.T) {
	a := newAttribute(t)
	a.become(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED)
	a.dial()
	a.becomes(wire.KeyProvider.GetValueType())
}

func TestSearchAttributeOfAnotherTypeIsNotWaitedFor(t *testing.T) {
	a := newAttribute(t)
	a.become(enumspb.INDEXED_VALUE_TYPE_INT)
	_, err := conn.Dial(t.Context(), a.options)
	for _, want := range []string{name, a.options.Namespace, "has type Int, Fairlead needs Keyword", "--temporal-namespace"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("dial gave %v, want it to say %q", err, want)
		}
	}
}
