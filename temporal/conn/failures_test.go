package conn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// ending ends the context of each activity, as the SDK does when the worker stops or a
// cancellation arrives, and keeps the error that the activity ended with.
type ending struct {
	interceptor.WorkerInterceptorBase
	cause error
	ended error
}

func (e *ending) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &endingActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, e}
}

type endingActivity struct {
	interceptor.ActivityInboundInterceptorBase
	of *ending
}

func (a *endingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(a.of.cause)
	result, err := a.Next.ExecuteActivity(ctx, in)
	a.of.ended = err
	return result, err
}

// TestAnActivityWhoseContextEnds: only a cancellation that was asked for leaves its
// error as it is, and Temporal then keeps no text of it.
func TestAnActivityWhoseContextEnds(t *testing.T) {
	cutOff := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("GET https://bob:canary@host/%s: %w", strings.Repeat("x", 3_000), ctx.Err())
	}
	tests := map[string]struct {
		cause      error
		activity   func(context.Context) error
		classified bool
	}{
		"the worker stops":                   {cause: errors.New("worker is shutting down"), activity: cutOff, classified: true},
		"the context ends without a cause":   {activity: cutOff, classified: true},
		"its cancellation was asked for":     {cause: temporal.NewCanceledError(), activity: cutOff},
		"it says so itself":                  {cause: temporal.NewCanceledError(), activity: func(context.Context) error { return temporal.NewCanceledError() }},
		"it says so and nobody asked":        {cause: errors.New("worker is shutting down"), activity: func(context.Context) error { return temporal.NewCanceledError() }, classified: true},
		"it was cancelled but failed anyhow": {cause: temporal.NewCanceledError(), activity: func(context.Context) error { return errors.New("https://bob:canary@host") }, classified: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			outer := &ending{cause: tt.cause}
			classify := func(error) conn.Class { return conn.Class{Type: wire.FailureTransient} }
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{outer, conn.Failures(classify)}})
			env.RegisterActivity(tt.activity)
			if _, err := env.ExecuteActivity(tt.activity); err == nil {
				t.Fatal("the activity ended well")
			}
			var app *temporal.ApplicationError
			if got := errors.As(outer.ended, &app); got != tt.classified {
				t.Fatalf("classified: %v, as %T", got, outer.ended)
			}
			if !tt.classified {
				return
			}
			if text := app.Message(); app.Type() != wire.FailureTransient || strings.Contains(text, "canary") || len(text) > 2100 {
				t.Errorf("type %s, %d bytes: %.80s", app.Type(), len(text), text)
			}
		})
	}
}
