package addon

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
)

func TestPulseTellsWhatWasDoneLast(t *testing.T) {
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	told := make(chan string, 1000)
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var progress string
		if err := details.Get(&progress); err != nil {
			t.Error(err)
		}
		told <- progress
	})
	env.RegisterActivity(watched)
	result, err := env.ExecuteActivity(watched)
	if err != nil {
		t.Fatal(err)
	}
	var want string
	if err := result.Get(&want); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case got := <-told:
			if got == want {
				return
			}
		case <-time.After(time.Minute):
			t.Fatalf("nobody was told %q", want)
		}
	}
}

// watched does one thing after the other.
func watched(ctx context.Context) (string, error) {
	tell, stop := beat(ctx, time.Millisecond)
	defer stop()
	tell("the first")
	tell("the second")
	select {
	case <-ctx.Done():
		return "", errors.New("it was cancelled")
	case <-time.After(50 * time.Millisecond):
	}
	return "the second", nil
}
