package addon

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// settlePatience is how long what was applied is waited for to be healthy. After that,
// sweeps look at it.
const settlePatience = time.Hour

// sleep waits for a signal, for the time of the next try, or for the objects to be in
// another health.
func (r *run) sleep(ctx workflow.Context) error {
	if r.dirty {
		return nil
	}
	wait, cancel := workflow.WithCancel(ctx)
	selector := workflow.NewSelector(ctx).AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	now := workflow.Now(ctx)
	switch {
	case r.state.Failure != nil:
		timer := workflow.NewTimerWithOptions(wait, r.state.Failure.Until.Sub(now), workflow.TimerOptions{Summary: "until the next try"})
		selector.AddFuture(timer, func(workflow.Future) { r.dirty = true })
	case r.settling(now):
		in := wire.AddonSettleInput{Addon: r.addon, Inventory: r.state.Stored.Sets.Inventory, Told: r.state.Stored.Health}
		health := workflow.ExecuteActivity(withSettleOptions(wait, r.state.Settled.Sub(now)), wire.ActivityAddonSettle, in)
		selector.AddFuture(health, func(f workflow.Future) {
			if f.Get(ctx, nil) == nil {
				r.dirty = true
				return
			}
			r.state.Settled = time.Time{} // a sweep sees it
		})
	}
	r.inbox.add(selector, r)
	for !r.dirty && !r.full(ctx) {
		selector.Select(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	cancel()
	return nil
}

// settling says whether the health of what was applied is waited for.
func (r *run) settling(now time.Time) bool {
	st := r.state.Stored
	return st.Phase == wire.AddonSynced && st.Health.Status != "" && st.Health.Status != wire.Healthy &&
		st.Sets.Inventory != "" && r.state.Settled.After(now)
}

// long waits for an activity that may take its time. A signal does not end it, unless the
// object is another one by then: a deletion, a pause or an edit need not wait.
func (r *run) long(ctx workflow.Context, claim wire.AddonClaim, options workflow.Context, name string, in, out any) error {
	wait, cancel := workflow.WithCancel(options)
	defer cancel()
	future := workflow.ExecuteActivity(wait, name, in)
	selector := workflow.NewSelector(ctx).AddFuture(future, func(workflow.Future) {})
	r.inbox.add(selector, r)
	for !future.IsReady() && ctx.Err() == nil {
		selector.Select(ctx)
		if future.IsReady() || !r.dirty {
			continue
		}
		r.dirty, r.later = false, true
		if r.overtaken(ctx, claim) {
			r.dirty = true
			cancel()
			break
		}
	}
	return future.Get(ctx, out)
}

// overtaken says whether the object is not any more what claim told.
func (r *run) overtaken(ctx workflow.Context, claim wire.AddonClaim) bool {
	var now wire.AddonClaim
	err := workflow.ExecuteActivity(withObjectOptions(ctx, "read "+r.addon.String()+", which changed"), wire.ActivityAddonClaim, r.addon).Get(ctx, &now)
	if err != nil {
		return false // it is read again when this is over
	}
	return now.Gone != claim.Gone || now.Deleting != claim.Deleting || now.Uninstall != claim.Uninstall ||
		now.Suspended != claim.Suspended || now.Generation != claim.Generation
}
