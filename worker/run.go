package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	// errNotStarted is the end of a worker that Temporal did not take: it may do so
	// later.
	errNotStarted = errors.New("the worker does not start")
	// errFatal is the end of a queue that the SDK gave up on.
	errFatal = errors.New("a task queue can be served no more")
)

// stopAllTimeout bounds the end of all workers, with eventsTimeout to less than the
// process has. The SDK grants stopTimeout to each kind of task of a worker, one after
// the other, and asks Temporal first.
const stopAllTimeout = stopTimeout + 2*time.Second

// Run serves all queues until ctx ends, or until one of them can be served no more.
func Run(ctx context.Context, o Options) error { return run(ctx, o, serve) }

// run calls serve until ctx ends or an error is there to stay.
func run(ctx context.Context, o Options, serve func(context.Context, Options) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	o.onFatal = func(queue string, err error) { end(fmt.Errorf("%w: %s: %w", errFatal, queue, err)) }
	if o.OnPolling == nil {
		o.OnPolling = func() {}
	}
	o.OnPolling = sync.OnceFunc(o.OnPolling)
	for {
		err := serve(ctx, o)
		if cause := context.Cause(ctx); errors.Is(cause, errFatal) {
			return cause
		}
		if !errors.Is(err, errNotStarted) || ctx.Err() != nil {
			return err
		}
		o.Log.Warn("Temporal does not take the worker yet, trying again", "in", startAgain, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(startAgain):
		}
	}
}

// waited says whether the group was done in time. What is not goes on alone, to the
// end of the process.
func waited(group *sync.WaitGroup, within time.Duration) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}
