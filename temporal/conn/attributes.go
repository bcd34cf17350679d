package conn

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"example.com/fairlead/temporal/wire"
)

// errWrongType is a search attribute that somebody else uses otherwise.
var errWrongType = errors.New("remove it, or use another namespace (--temporal-namespace)")

// ensureSearchAttributes gives a namespace the search attributes that it lacks: a
// workflow that is started with an unknown one is refused.
func ensureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the search attributes of Temporal namespace %s: %w", namespace, err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for _, key := range wire.SearchAttributes() {
		name, want := key.GetName(), key.GetValueType()
		switch is, ok := have.CustomAttributes[name]; {
		case !ok:
			missing[name] = want
		case is != want:
			return fmt.Errorf("search attribute %s of Temporal namespace %s has type %s, Fairlead needs %s: %w", name, namespace, is, want, errWrongType)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	var exists *serviceerror.AlreadyExists
	if errors.As(err, &exists) { // another part of the installation was faster
		return nil
	}
	if err != nil {
		return fmt.Errorf("add search attributes to Temporal namespace %s: %w", namespace, err)
	}
	return nil
}
