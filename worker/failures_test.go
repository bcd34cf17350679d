package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// wrappers put an error into another one, with a secret beside it.
var wrappers = []func(error) error{
	func(err error) error { return fmt.Errorf("dial https://bob:c4nary@10.0.0.1: %w", err) },
	func(err error) error { return fmt.Errorf("Authorization: Bearer c4nary0123456789: %w", err) },
	func(err error) error { return errors.Join(errors.New("proxy http://c4nary@h"), err) },
	func(err error) error { return errors.Join(err, errors.New("Proxy-Authorization: Basic YzRuYXJ5OnB3")) },
	func(err error) error { return &around{err} },
	func(err error) error { return fmt.Errorf("%w: %w", err, context.DeadlineExceeded) },
}

type around struct{ err error }

func (a *around) Error() string { return "around " + a.err.Error() }
func (a *around) Unwrap() error { return a.err }

// TestFailures: whatever an error went through, its failure has the type, the
// retryability and the delay of its class, and no secret.
func TestFailures(t *testing.T) {
	classes := []struct {
		err       error
		kind      string
		retryable bool
		after     time.Duration
	}{
		{provider.ErrNotFound, wire.FailureNotFound, false, 0},
		{provider.ErrTransient, wire.FailureTransient, true, 0},
		{provider.ErrQuotaExceeded, wire.FailureQuota, true, 5 * time.Minute},
		{provider.ErrPermanent, wire.FailurePermanent, false, 0},
		{provider.ErrBusy, wire.FailureBusy, true, 2 * time.Second},
		{outcome.ErrSuperseded, wire.FailureSuperseded, false, 0},
		{&outcome.NotYet{After: 7 * time.Second, What: "x"}, wire.FailureNotYet, true, 7 * time.Second},
		{&outcome.Failing{Err: errors.New("x")}, wire.FailureTransient, false, 0},
		{errors.New("of no class"), wire.FailureTransient, true, 0},
	}
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0)) // #nosec G404 -- a test
	for range 200 {
		class := classes[dice.IntN(len(classes))]
		err := class.err
		for range dice.IntN(30) {
			err = wrappers[dice.IntN(len(wrappers))](err)
		}
		failed := fail(t, err)
		var app *temporal.ApplicationError
		if !errors.As(failed, &app) {
			t.Fatalf("seed %d: %v became %v", seed, err, failed)
		}
		if app.Type() != class.kind || app.NonRetryable() == class.retryable || app.NextRetryDelay() != class.after {
			t.Fatalf("seed %d: %v became type %s, non-retryable %v, delay %s; want %+v", seed, err, app.Type(), app.NonRetryable(), app.NextRetryDelay(), class)
		}
		if text := app.Message(); strings.Contains(text, "c4nary") || strings.Contains(text, "YzRuYXJ5") || len(text) > 4096 {
			t.Fatalf("seed %d: the message is %q", seed, text)
		}
	}
}

// fail is the failure that an activity with this error ends in.
func fail(t *testing.T, err error) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{conn.Failures(classify)}})
	activity := func(context.Context) error { return err }
	env.RegisterActivity(activity)
	_, failed := env.ExecuteActivity(activity)
	if failed == nil {
		t.Fatalf("the activity did not fail with %v", err)
	}
	return failed
}
