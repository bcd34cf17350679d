package addoncli

import (
	"context"
	"time"

	"example.com/fairlead/api/client"
)

// lookWithin is how long an edit is waited for to be looked at: the plan of a moment ago is
// not what whoever has just edited an add-on asks for. lookPoll is between two looks.
const lookWithin, lookPoll = 10 * time.Second, 200 * time.Millisecond

// looked is an add-on whose status speaks of its last edit. If that takes too long, it is as
// it was, and tell says so.
func (c commands) looked(ctx context.Context, api *client.Client, name string, tell func(...any)) (client.AddonDetails, error) {
	patience := time.NewTimer(c.look)
	defer patience.Stop()
	tick := time.NewTicker(min(c.poll, lookPoll))
	defer tick.Stop()
	for {
		a, err := api.Addon(ctx, name)
		if err != nil || a.Deleting || a.ObservedGeneration >= a.Generation {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, context.Cause(ctx)
		case <-patience.C:
			tell("add-on " + name + " was edited, and this is from before: its edit was not looked at yet; try again in a while")
			return a, nil
		case <-tick.C:
		}
	}
}
