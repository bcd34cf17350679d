package proxy

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// inbox holds the signals. All but health are wake-ups: they make the run dirty,
// and what follows reads the truth.
type inbox struct {
	health  workflow.ReceiveChannel
	looks   workflow.ReceiveChannel
	changes workflow.ReceiveChannel
	leases  workflow.ReceiveChannel
}

func newInbox(ctx workflow.Context) inbox {
	return inbox{
		health:  workflow.GetSignalChannel(ctx, wire.SignalHealth),
		looks:   workflow.GetSignalChannel(ctx, wire.SignalObserved),
		changes: workflow.GetSignalChannel(ctx, wire.SignalChanged),
		leases:  workflow.GetSignalChannel(ctx, wire.SignalLease),
	}
}

// drain takes all signals that are there, without yielding.
func (in inbox) drain(r *run) {
	for {
		var h wire.Health
		if !in.health.ReceiveAsync(&h) {
			break
		}
		r.hear(h)
	}
	for in.looks.ReceiveAsync(nil) {
		r.look()
	}
	for in.changes.ReceiveAsync(nil) {
		r.dirty = true
	}
	for in.leases.ReceiveAsync(nil) {
		r.hearLease()
	}
}

// wait blocks until a signal is there or the workflow is cancelled.
func (in inbox) wait(ctx workflow.Context, r *run) {
	selector := workflow.NewSelector(ctx).AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	in.add(selector, r).Select(ctx)
}

// add makes s wake up on every signal, and take it. A signal that cannot be decoded
// is dropped: waiting for the next one of its kind here would leave the others unheard.
func (in inbox) add(s workflow.Selector, r *run) workflow.Selector {
	s.AddReceive(in.health, func(c workflow.ReceiveChannel, _ bool) {
		var h wire.Health
		if c.ReceiveAsync(&h) {
			r.hear(h)
		}
	})
	s.AddReceive(in.looks, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		r.look()
	})
	s.AddReceive(in.changes, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		r.dirty = true
	})
	s.AddReceive(in.leases, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(nil)
		r.hearLease()
	})
	return s
}

// hear takes a verdict; old news wakes nobody.
func (r *run) hear(h wire.Health) {
	if r.state.heed(h) {
		r.dirty = true
	}
}

// hearLease takes a hint of the api; one that nothing follows from wakes nobody.
func (r *run) hearLease() {
	if r.state.heedLease() {
		r.dirty = true
	}
}

func (r *run) look() {
	r.state.Look = true
	r.dirty = true
}

// handleReplace serves the update that asks for a new instance. It is written on
// the object first, so that it survives this workflow; the change of the object then
// wakes the loop.
func (r *run) handleReplace(ctx workflow.Context) error {
	handle := func(ctx workflow.Context, value string) (string, error) {
		if value == "" {
			value = "update/" + workflow.GetCurrentUpdateInfo(ctx).ID
		}
		in := wire.ReplaceInput{Proxy: r.proxy, Value: value}
		err := workflow.ExecuteActivity(withReplaceOptions(ctx), wire.ActivityReplace, in).Get(ctx, nil)
		return value, err
	}
	validate := func(value string) error {
		if len(value) > wire.MaxReplaceValue {
			return temporal.NewApplicationError(fmt.Sprintf("the value has %d bytes, at most %d are allowed", len(value), wire.MaxReplaceValue), wire.FailurePermanent)
		}
		return nil
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, wire.UpdateReplace, handle, workflow.UpdateHandlerOptions{
		Validator:   validate,
		Description: "Asks for a new instance: writes the argument, or a value of its own for an empty one, into the annotation " + wire.AnnotationReplace,
	})
}
