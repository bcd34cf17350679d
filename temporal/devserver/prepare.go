package main

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// readyTimeout is how long the service may take to answer.
const readyTimeout = time.Minute

// prepare waits until the service answers, and gives an older database the search
// attributes and the retention that the command line asks for.
func prepare(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c, err := client.NewLazyClient(client.Options{HostPort: address(o), Logger: silent{}})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address(o), err)
	}
	defer c.Close()
	for _, ns := range o.Namespaces {
		for {
			err := prepareNamespace(ctx, c, ns, o)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("prepare namespace %s: %w", ns, err)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

func prepareNamespace(ctx context.Context, c client.Client, ns string, o Options) error {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: ns})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, t := range o.SearchAttributes {
		if _, ok := have.CustomAttributes[name]; !ok {
			missing[name] = t
		}
	}
	if len(missing) > 0 {
		_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: ns, SearchAttributes: missing})
		if err != nil {
			return err
		}
	}
	_, err = c.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: ns,
		Config:    &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.Retention)},
	})
	return err
}

// silent is a logger of the SDK that says nothing: start-up is full of refusals.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
