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

// askWindow is how long an api that does not answer is asked for the bans.
const askWindow = 5 * time.Minute

// count asks the api how often the address was banned. A signal pre-empts it, and it is
// asked again after the claim that follows; an api that does not answer is given up.
func (r *run) count(ctx workflow.Context) error {
	sus, now := r.state.Suspicion, workflow.Now(ctx)
	if sus.Until.IsZero() {
		sus.Until = now.Add(askWindow)
	}
	sus.Again = false
	at := wire.Endpoint{Host: r.state.Stored.Host, Port: r.state.Stored.Port}
	in := wire.BansInput{Proxy: r.proxy, Address: at}
	wait, cancel := workflow.WithCancel(ctx)
	future := workflow.ExecuteActivity(withBansOptions(wait, at, sus.Until.Sub(now)), wire.ActivityBans, in)
	r.race(wait, future, cancel)
	var bans wire.Bans
	err := future.Get(wait, &bans)
	if ctx.Err() != nil || temporal.IsCanceledError(err) {
		return ctx.Err()
	}
	if err != nil {
		workflow.GetLogger(ctx).Warn("the bans are not known: waiting for the next hint of them", "error", err)
	}
	r.state.count(bans.Count)
	return nil
}

// condemn writes on the object that the address was banned, where that survives this
// workflow; the claim that follows reads it like anybody's wish for another instance.
func (r *run) condemn(ctx workflow.Context, s Step) error {
	in := wire.ReplaceInput{Proxy: r.proxy, Value: s.Value}
	wait, cancel := workflow.WithCancel(ctx)
	future := workflow.ExecuteActivity(withObjectOptions(wait, "ask for another address of "+r.proxy.String()), wire.ActivityReplace, in)
	r.race(wait, future, cancel)
	switch err := future.Get(wait, nil); {
	case temporal.IsCanceledError(err):
		return ctx.Err()
	case err != nil:
		return r.again(ctx, err)
	}
	r.state.Suspicion, r.dirty = nil, true
	return nil
}

// rest waits until a time or a signal.
func (r *run) rest(ctx workflow.Context, until time.Time, summary string) error {
	wait, cancel := workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(wait, until.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: summary})
	r.race(wait, timer, cancel)
	return ctx.Err()
}
