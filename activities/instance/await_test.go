package instance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

// looks is a provider that answers Get from a list, the last answer for ever.
type looks struct {
	provider.Provider
	answers []look
	calls   int
	message string
}

type look struct {
	state provider.State
	err   error
}

func (l *looks) Get(context.Context, provider.ID) (provider.Instance, error) {
	a := l.answers[min(l.calls, len(l.answers)-1)]
	l.calls++
	return provider.Instance{State: a.state, Message: l.message}, a.err
}

func (l *looks) Delete(context.Context, provider.ID) error {
	return fmt.Errorf("delete: %w", provider.ErrPermanent)
}

// call runs an activity once, and returns its error as it was before its way
// through Temporal.
func call(t *testing.T, fn func(context.Context, wire.InstanceInput) (wire.Instance, error), e wire.Entry) (seen wire.Instance, err error) {
	t.Helper()
	return callAfter(t, fn, wire.InstanceInput{Entry: e, Patience: time.Minute}, time.Time{})
}

// callAfter runs an activity once whose looks have failed since a time.
func callAfter(t *testing.T, fn func(context.Context, wire.InstanceInput) (wire.Instance, error), in wire.InstanceInput, failing time.Time) (seen wire.Instance, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	if !failing.IsZero() {
		env.SetHeartbeatDetails(failing)
	}
	activity := func(ctx context.Context, in wire.InstanceInput) error {
		seen, err = fn(ctx, in)
		return nil
	}
	env.RegisterActivity(activity)
	if in.Entry.Name == "" {
		in.Proxy.UID, in.Entry.Name = "u1", provider.InstanceName("u1")
	}
	if _, failed := env.ExecuteActivity(activity, in); failed != nil {
		t.Fatal(failed)
	}
	return seen, err
}

func isNotYet(err error) bool {
	var notYet *outcome.NotYet
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
		{name: "an instance that is still there is waited for", answers: []look{there}, want: wire.StateUnknown, notYet: true, looked: 1},
		{name: "an instance that comes up between the looks is not gone", answers: []look{gone, there}, want: wire.StateUnknown, notYet: true, looked: 2},
		{name: "nothing is proved while an attempt to create may still run", answers: []look{gone}, until: time.Hour, want: wire.StateUnknown, notYet: true, looked: 1},
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
			if _, err := call(t, fn, wire.Entry{}); !errors.Is(provider.Class(err), provider.ErrTransient) {
				t.Errorf("error = %v, want a transient one", err)
			}
		})
	}
}

// TestAnEntryOfAnotherProxyReachesNothing: whoever may write one status must not delete
// by it what another one tells of.
func TestAnEntryOfAnotherProxyReachesNothing(t *testing.T) {
	p := &looks{answers: []look{{state: provider.Running}}}
	a := &Activities{Provider: p}
	others := wire.InstanceInput{Proxy: wire.ProxyRef{UID: "u2"}, Entry: wire.Entry{Name: provider.InstanceName("u1")}}
	for name, want := range map[string]struct {
		call  func(context.Context, wire.InstanceInput) (wire.Instance, error)
		state string
	}{"get": {a.Get, wire.StateGone}, "vanish": {a.Vanish, wire.StateGone}, "delete": {a.Delete, ""}, "disown": {a.Disown, ""}} {
		seen, err := callAfter(t, want.call, others, time.Time{})
		if err != nil || seen.State != want.state || p.calls > 0 {
			t.Errorf("%s: state %q, error %v, after %d calls of the provider", name, seen.State, err, p.calls)
		}
	}
}

func TestPollsTellWhatFailsForLong(t *testing.T) {
	refused := look{err: fmt.Errorf("dial tcp 10.0.0.1:443: connection refused: %w", provider.ErrTransient)}
	up := look{state: provider.Provisioning}
	long, short := time.Now().Add(-2*time.Minute), time.Now().Add(-10*time.Second)
	tests := []struct {
		name    string
		answer  look
		quiet   bool
		failing time.Time
		told    bool
		retried bool // the next attempt looks again
	}{
		{name: "a first failure is retried", answer: refused, retried: true},
		{name: "failures for a short time are retried", answer: refused, failing: short, retried: true},
		{name: "failures for a long time are told", answer: refused, failing: long, told: true},
		{name: "what was told is retried", answer: refused, quiet: true, failing: long, retried: true},
		{name: "a backend that answers again ends a quiet step", answer: up, quiet: true},
		{name: "a backend that answers is polled", answer: up, failing: long, retried: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for what, fn := range map[string]func(*Activities, context.Context, wire.InstanceInput) (wire.Instance, error){
				"settle": (*Activities).Settle, "vanish": (*Activities).Vanish,
			} {
				a := &Activities{Provider: &looks{answers: []look{tt.answer}}}
				poll := func(ctx context.Context, in wire.InstanceInput) (wire.Instance, error) { return fn(a, ctx, in) }
				_, err := callAfter(t, poll, wire.InstanceInput{Quiet: tt.quiet, Patience: time.Minute}, tt.failing)
				var failing *outcome.Failing
				if told := errors.As(err, &failing); told != tt.told || (err != nil && !told) != tt.retried {
					t.Errorf("%s: %v; want told %v, retried %v", what, err, tt.told, tt.retried)
				}
			}
		})
	}
}

func TestAWaitWithoutPatienceReturnsWhatItSees(t *testing.T) {
	p := &looks{answers: []look{{state: provider.Provisioning}}}
	a := &Activities{Provider: p}
	p.message = "ImagePullBackOff: no such image"
	for name, tt := range map[string]struct {
		told   string
		wait   func(context.Context, wire.InstanceInput) (wire.Instance, error)
		notYet bool
		want   wire.Instance
	}{
		"something new is told":              {"", a.Settle, false, wire.Instance{State: wire.StateProvisioning, Message: p.message, Attempt: 1}},
		"what was told is waited for":        {p.message, a.Settle, true, wire.Instance{State: wire.StateProvisioning, Message: p.message, Attempt: 1}},
		"a deletion that takes long is told": {"", a.Vanish, false, wire.Instance{State: wire.StateUnknown, Message: p.message, Attempt: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := callAfter(t, tt.wait, wire.InstanceInput{Told: tt.told, Patience: time.Nanosecond}, time.Time{})
			if diff := cmp.Diff(tt.want, seen); diff != "" || isNotYet(err) != tt.notYet {
				t.Errorf("error %v, seen (-want +got):\n%s", err, diff)
			}
		})
	}
}
