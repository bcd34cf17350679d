package addon

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

const (
	// objectWindow is how long an activity on the object is tried before it is read again.
	objectWindow = 10 * time.Minute
	// lookWindow bounds a look at the source and the cluster, applyWindow the writing of all
	// objects, which may wait for finalizers of each.
	lookWindow  = 10 * time.Minute
	applyWindow = time.Hour
	// hookSlack is what the run of a hook may take beside the hook itself: to delete the
	// object of a former run, and to be taken over by another worker.
	hookSlack = 10 * time.Minute
	// beat is after how long without a sign of life a worker counts as dead.
	beat = 30 * time.Second
)

// applyWords are what a part of a plan is called.
var applyWords = map[string]string{
	wire.PartEarly: "apply the definitions of kinds and the namespace",
	wire.PartRest:  "apply the rest, and prune",
	wire.PartAll:   "apply, and prune",
}

// withObjectOptions are the options of an activity on the object.
func withObjectOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    30 * time.Second,
		ScheduleToCloseTimeout: objectWindow,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Summary:                summary,
	})
}

// withAskOptions are the options of the write that an update waits for.
func withAskOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToCloseTimeout: time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Second},
		Summary:                "approve a plan on the object",
	})
}

// withLookOptions are the options of a look. Its failures come back soon, so that the
// reason can be told; the workflow tries again.
func withLookOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    lookWindow,
		ScheduleToCloseTimeout: lookWindow,
		HeartbeatTimeout:       beat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: 3},
		Summary:                summary,
	})
}

// withLongOptions are the options of what writes. A failure that is an outage is retried
// for all of the window; there is never more than one of it: a cancellation waits.
func withLongOptions(ctx workflow.Context, summary string, window time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    window,
		ScheduleToCloseTimeout: window,
		HeartbeatTimeout:       beat,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Summary:                summary,
	})
}

// withWaitOptions are the options of what writes little, and waits for what others do.
func withWaitOptions(ctx workflow.Context, summary string, window time.Duration) workflow.Context {
	return workflow.WithTaskQueue(withLongOptions(ctx, summary, window), wire.WaitsOf(workflow.GetInfo(ctx).TaskQueueName))
}

// withSettleOptions are the options of the wait for another health.
func withSettleOptions(ctx workflow.Context, rest time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    time.Minute,
		ScheduleToCloseTimeout: max(rest, time.Second),
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		Summary:                "wait until its objects are in another health",
	})
}
