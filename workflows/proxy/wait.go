package proxy

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// drain waits for the last lease of an instance. Whatever keeps the leases from
// being known costs the drain timeout, no more.
func (r *run) drain(ctx workflow.Context, s Step) error {
	since := workflow.Now(ctx)
	if d := r.state.Drain; d != nil && d.Incarnation == s.Entry.Incarnation && !d.Since.IsZero() {
		since = d.Since
	}
	r.state.Drain = &DrainWait{Incarnation: s.Entry.Incarnation, Since: since, Until: s.Until}
	in := wire.DrainInput{Proxy: r.proxy, Incarnation: s.Entry.Incarnation}
	wait, cancel := workflow.WithCancel(ctx)
	future := workflow.ExecuteActivity(withDrainOptions(wait, s.Until.Sub(workflow.Now(ctx))), wire.ActivityDrained, in)
	r.race(wait, future, cancel)
	err := future.Get(wait, nil)
	switch {
	case err == nil:
		r.state.Drain.Done = true
		return nil
	case ctx.Err() != nil || temporal.IsCanceledError(err):
		return ctx.Err()
	}
	return r.rest(ctx, s.Until, "until the leases have had their time")
}

// rest waits until a time or a signal.
func (r *run) rest(ctx workflow.Context, until time.Time, summary string) error {
	wait, cancel := workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(wait, until.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: summary})
	r.race(wait, timer, cancel)
	return ctx.Err()
}
