package addon

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// inbox holds the signals: wake-ups, and requests to sync.
type inbox struct {
	changes workflow.ReceiveChannel
	syncs   workflow.ReceiveChannel
}

func newInbox(ctx workflow.Context) inbox {
	return inbox{
		changes: workflow.GetSignalChannel(ctx, wire.SignalChanged),
		syncs:   workflow.GetSignalChannel(ctx, wire.SignalSync),
	}
}

// drain takes all signals that are there, without yielding.
func (in inbox) drain(r *run) {
	for in.changes.ReceiveAsync(nil) {
		r.dirty = true
	}
	in.drainSyncs(r)
}

// drainSyncs takes the requests that are there, without yielding.
func (in inbox) drainSyncs(r *run) {
	for {
		var ask wire.SyncInput
		if !in.syncs.ReceiveAsync(&ask) {
			return
		}
		r.hear(ask)
	}
}

// add makes s wake up on every signal, and take it. A payload that cannot be decoded is
// dropped, as if the signal had none.
func (in inbox) add(s workflow.Selector, r *run) workflow.Selector {
	s.AddReceive(in.changes, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		r.dirty = true
	})
	s.AddReceive(in.syncs, func(c workflow.ReceiveChannel, _ bool) {
		var ask wire.SyncInput
		if c.ReceiveAsync(&ask) {
			r.hear(ask)
		}
	})
	return s
}

// maxAsked bounds the texts of a request, in bytes.
const maxAsked = 253

// maxAsks bounds the requests that wait to be written on the object.
const maxAsks = 10

// hear takes a request. One for the plan that the status shows is for the one that it shows
// now: when the request is written on the object, that may be another, which nobody saw.
func (r *run) hear(ask wire.SyncInput) {
	r.dirty = true
	if len(ask.Plan) > maxAsked || len(ask.Who) > maxAsked {
		return
	}
	ask.Plan = r.shown(ask)
	if nothing := ask.Plan == "" && !r.blind; nothing || len(r.asks) >= maxAsks {
		return
	}
	r.asks = append(r.asks, ask)
}

// shown is the plan that is asked for; empty for none, or as long as no status was read.
func (r *run) shown(ask wire.SyncInput) string { return cmp.Or(ask.Plan, r.state.Stored.PlanHash) }

// answer writes requests on the object, where they survive this workflow. One that cannot
// be granted is logged: whoever sent a signal hears nothing.
func (r *run) answer(ctx workflow.Context) error {
	for _, ask := range r.asks {
		ask.Addon = r.addon
		err := workflow.ExecuteActivity(withAskOptions(ctx), wire.ActivityAddonAsk, ask).Get(ctx, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			workflow.GetLogger(ctx).Warn("a request to sync is not granted", "plan", ask.Plan, "error", err)
		}
	}
	r.asks = nil
	return nil
}

// handleSync serves the update that asks for a sync. The change of the object then wakes
// the loop.
func (r *run) handleSync(ctx workflow.Context) error {
	handle := func(ctx workflow.Context, ask wire.SyncInput) error {
		ask.Addon, ask.Plan = r.addon, r.shown(ask)
		if ask.Plan == "" && !r.blind {
			return temporal.NewNonRetryableApplicationError("no plan waits for approval: it is "+cmp.Or(r.state.Stored.Phase, wire.AddonPending), wire.FailurePermanent, nil)
		}
		return workflow.ExecuteActivity(withAskOptions(ctx), wire.ActivityAddonAsk, ask).Get(ctx, nil)
	}
	validate := func(ask wire.SyncInput) error {
		if len(ask.Plan) > maxAsked || len(ask.Who) > maxAsked {
			return temporal.NewApplicationError(fmt.Sprintf("a plan and a name may have %d bytes each", maxAsked), wire.FailurePermanent)
		}
		return nil
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, wire.UpdateSync, handle, workflow.UpdateHandlerOptions{
		Validator:   validate,
		Description: `Approves a plan: {"plan": its hash, "who": your name}; without a hash, the plan that the status shows`,
	})
}
