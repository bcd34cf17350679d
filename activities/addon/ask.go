package addon

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/api/addons/approve"
	"example.com/fairlead/temporal/wire"
)

// byTemporal is who asks if nobody says who: somebody who reaches the Temporal server.
const byTemporal = "temporal"

// AskForSync approves the plan that waits, on the object, where it survives the workflow
// that was asked.
func (a *Activities) AskForSync(ctx context.Context, in wire.SyncInput) error {
	r := approve.Request{Plan: in.Plan, Who: cmp.Or(in.Who, byTemporal)}
	_, err := approve.Ask(ctx, a.Client, in.Addon.Name, in.Addon.UID, r)
	switch {
	case errors.Is(err, approve.ErrGone), errors.Is(err, approve.ErrDeleting):
		return fmt.Errorf("%w: %w", outcome.ErrSuperseded, err)
	case errors.Is(err, approve.ErrNothing), errors.Is(err, approve.ErrOther), errors.Is(err, approve.ErrSuspended): // whoever asked made a mistake
		return fmt.Errorf("%w: %w", outcome.ErrPermanent, err)
	}
	return err
}
