package addon

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"example.com/fairlead/internal/text"
)

const (
	// pulseEvery is how often the server is told that an attempt is alive.
	pulseEvery = 5 * time.Second
	// maxProgress is how many bytes of what it does are told.
	maxProgress = 512
)

// pulse tells the server that this attempt is alive, with what tell was given last, until
// stop is called. Outside of an activity it tells nobody.
func pulse(ctx context.Context) (tell func(string), stop func()) {
	return beat(ctx, pulseEvery)
}

func beat(ctx context.Context, every time.Duration) (tell func(string), stop func()) {
	if !activity.IsActivity(ctx) {
		return func(string) {}, func() {}
	}
	var last atomic.Value
	last.Store("")
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx, last.Load())
			}
		}
	}()
	tell = func(progress string) { last.Store(text.Head(progress, maxProgress, "…")) }
	return tell, func() { close(done); <-stopped }
}

// attempt of this activity, from 1.
func attempt(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}
