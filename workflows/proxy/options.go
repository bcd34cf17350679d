package proxy

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// withObjectOptions are the options of an activity on the object.
func withObjectOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToCloseTimeout: claimWindow,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Summary:                summary,
	})
}

// withReplaceOptions are the options of the write that an update waits for.
func withReplaceOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToCloseTimeout: time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Second},
		Summary:                "ask for a new instance on the object",
	})
}

// withDrainOptions are the options of the wait for the last lease.
func withDrainOptions(ctx workflow.Context, rest time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToCloseTimeout: max(rest, time.Second),
		RetryPolicy:            quietRetry(),
		Summary:                "wait for the last lease",
	})
}

// withBansOptions are the options of a look at the bans.
func withBansOptions(ctx workflow.Context, at wire.Endpoint, rest time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToCloseTimeout: max(rest, time.Second),
		RetryPolicy:            quietRetry(),
		Summary:                fmt.Sprintf("count the bans of %s:%d", at.Host, at.Port),
	})
}

// withCallOptions are the options of a step on the provider. A first call comes
// back within minutes, so that the reason can be told; a quiet one waits.
func withCallOptions(ctx workflow.Context, s Step) workflow.Context {
	o := workflow.ActivityOptions{
		TaskQueue:              wire.ProviderQueue(s.Entry.Provider),
		StartToCloseTimeout:    15 * time.Second,
		ScheduleToStartTimeout: noWorker,
		ScheduleToCloseTimeout: createWindow,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: firstAttempts, NonRetryableErrorTypes: []string{wire.FailureQuota}},
		Summary:                stepVerbs[s.Kind] + " " + s.Entry.Name + " on " + where(s.Entry),
	}
	switch s.Kind {
	case Create, Delete:
		o.StartToCloseTimeout = wire.CreateAttempt
		o.HeartbeatTimeout = 20 * time.Second // a worker that died is noticed before its attempt would time out
		o.WaitForCancellation = true
	case Settle, Vanish:
		o.ScheduleToCloseTimeout = quietWindow
		o.RetryPolicy = quietRetry()
	}
	if s.Kind == Disown { // where that can be done: a worker that is being replaced comes back
		o.ScheduleToStartTimeout = 45 * time.Second
		o.ScheduleToCloseTimeout = 75 * time.Second
	} else if s.Quiet {
		o.ScheduleToStartTimeout = 0
		o.ScheduleToCloseTimeout = quietWindow
		o.RetryPolicy = quietRetry()
		o.Summary += ", until it can be done"
	}
	return workflow.WithActivityOptions(ctx, o)
}

func quietRetry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 2 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
}

var stepVerbs = map[StepKind]string{
	Create: "create",
	Get:    "look at",
	Settle: "wait for",
	Delete: "delete",
	Vanish: "wait until gone:",
	Drain:  "wait for the last lease of",
	Disown: "abandon",
}
