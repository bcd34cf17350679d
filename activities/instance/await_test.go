package instance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

// looks is a provider that answers Get from a list, the last answer for ever.
type looks struct {
	provider.Provider
	answers []look
	calls   int
}

type look struct {
	state provider.State
	err   error
}

func (l *looks) Get(context.Context, provider.ID) (provider.Instance, error) {
	a := l.answers[min(l.calls, len(l.answers)-1)]
	l.calls++
	return provider.Instance{State: a.state}, a.err
}

func (l *looks) Delete(context.Context, provider.ID) error {
	return fmt.Errorf("delete: %w", provider.ErrPermanent)
}

// call runs an activity once, and returns its error as it was before its way
// through Temporal.
func call(t *testing.T, fn func(context.Context, wire.InstanceInput) (wire.Instance, error), e wire.Entry) (seen wire.Instance, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	activity := func(ctx context.Context, in wire.InstanceInput) error {
		seen, err = fn(ctx, in)
		return nil
	}
	env.RegisterActivity(activity)
	if _, failed := env.ExecuteActivity(activity, wire.InstanceInput{Entry: e}); failed != nil {
		t.Fatal(failed)
	}
	return seen, err
}

func isNotYet(err error) bool {
	var notYet *NotYet
	return errors.As(err, &notYet)
}

func TestVanish(t *testing.T) {
	gone := look{err: fmt.Errorf("proxy-x: %w", provider.ErrNotFound)}
	there := look{state: provider.Running}
	tests := []struct {
		name    string
		answers []look
		until   time.Duration // of an attempt that may still run
		want    string        // the state that is returned
		notYet  bool
		looked  int
	}{
		{name: "two looks must find nothing", answers: []look{gone}, want: wire.StateGone, looked: 2},
		{name: "an instance that is still there is waited for", answers: []look{there}, notYet: true, looked: 1},
		{name: "an instance that comes up between the looks is not gone", answers: []look{gone, there}, notYet: true, looked: 2},
		{name: "nothing is proved while an attempt to create may still run", answers: []look{gone}, until: time.Hour, notYet: true, looked: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &looks{answers: tt.answers}
			a := &Activities{Provider: p}
			var e wire.Entry
			if tt.until > 0 {
				e.AttemptUntil = time.Now().Add(tt.until)
			}
			seen, err := call(t, a.Vanish, e)
			if notYet := isNotYet(err); notYet != tt.notYet || seen.State != tt.want || p.calls != tt.looked {
				t.Errorf("state %q, error %v, after %d looks; want %q, not yet %v, %d looks", seen.State, err, p.calls, tt.want, tt.notYet, tt.looked)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	for state, settled := range map[provider.State]bool{
		provider.Provisioning: false, provider.Unknown: false, provider.Running: true, provider.Stopped: true, provider.Halted: true,
	} {
		t.Run(string(state), func(t *testing.T) {
			a := &Activities{Provider: &looks{answers: []look{{state: state}}}}
			seen, err := call(t, a.Settle, wire.Entry{})
			if settled && (err != nil || seen.State != string(state)) || !settled && !isNotYet(err) {
				t.Errorf("state %q, error %v; want settled %v", seen.State, err, settled)
			}
		})
	}
}

func TestPermanentFailuresOfALookOrADeleteAreRetried(t *testing.T) {
	a := &Activities{Provider: &looks{answers: []look{{err: fmt.Errorf("forbidden: %w", provider.ErrPermanent)}}}}
	for name, fn := range map[string]func(context.Context, wire.InstanceInput) (wire.Instance, error){"get": a.Get, "vanish": a.Vanish, "delete": a.Delete} {
		t.Run(name, func(t *testing.T) {
			if _, err := call(t, fn, wire.Entry{Name: "proxy-x"}); !errors.Is(provider.Class(err), provider.ErrTransient) {
				t.Errorf("error = %v, want a transient one", err)
			}
		})
	}
}
