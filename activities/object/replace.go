package object

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/replace"
	"example.com/fairlead/temporal/wire"
)

// AskForReplacement writes the wish for a new instance on the object, where it
// survives the workflow that was asked.
func (a *Activities) AskForReplacement(ctx context.Context, in wire.ReplaceInput) error {
	key := types.NamespacedName{Namespace: in.Proxy.Namespace, Name: in.Proxy.Name}
	_, err := replace.Ask(ctx, a.Client, key, in.Proxy.UID, in.Value)
	switch {
	case errors.Is(err, replace.ErrGone), errors.Is(err, replace.ErrDeleting):
		return fmt.Errorf("%w: %w", outcome.ErrSuperseded, err)
	case errors.Is(err, replace.ErrExternal): // whoever asked made a mistake
		return fmt.Errorf("%w: %w", provider.ErrPermanent, err)
	}
	return err
}
