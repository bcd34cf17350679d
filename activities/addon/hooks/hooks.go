// Package hooks runs the hooks of an add-on as Helm 3 runs those of a release.
package hooks

import (
	"context"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
)

// Runner runs hooks. Its caller runs them one after the other, and may repeat any call that
// did not return, also in another process.
type Runner struct {
	// Client acts as the identity of add-ons.
	Client client.WithWatch
	// Logs has what a container has printed.
	Logs Logs
	// Mask hides secrets in texts of the API server and of pods.
	Mask func(string) string
	// Addon is the name of the add-on that hooks run for.
	Addon string
}

// Logs reads at most the last so many bytes of what a container has printed.
type Logs func(ctx context.Context, namespace, pod, container string, last int64) (string, error)

// FailedError is a hook that has run and failed, or never ended: to run the same again is
// for people to decide.
type FailedError struct {
	ID manifest.ID
	// Why, for people.
	Why string
	// Output is the end of what the pods of the hook have printed, if it asks for that.
	Output string
}

func (e *FailedError) Error() string { return "hook " + e.ID.String() + " " + e.Why }

// Ran is a hook as it is run once.
type Ran struct {
	manifest.Hook

	// Run tells this run from all others: of another sync, at another event, and of another
	// hook that has the same name.
	Run string
	// Began is when its timeout began to count; the zero time is that of the call.
	Began time.Time
}

// Run makes the object of h and waits until it has done its work: Jobs and Pods until they
// end, all else not at all. It returns what its pods printed, if h asks for that. Progress is told in words, now and then. When h itself fails, the
// error is *FailedError.
func (r *Runner) Run(ctx context.Context, h Ran, timeout time.Duration, progress func(string)) (output string, err error) {
	o, err := r.ensure(ctx, h)
	if err != nil {
		return "", err
	}
	err = r.wait(ctx, o, h.Began, timeout, progress)
	var failed *FailedError
	switch {
	case err == nil && slices.Contains(h.LogPolicies, manifest.LogSucceeded):
		return r.output(ctx, o), nil
	case errors.As(err, &failed) && slices.Contains(h.LogPolicies, manifest.LogFailed):
		failed.Output = r.output(ctx, o)
	}
	return "", err
}

// failure is that of the hook itself. Why may have been told by the API server.
func (r *Runner) failure(id manifest.ID, why string) *FailedError {
	return &FailedError{ID: id, Why: r.Mask(why)}
}

// At returns the hooks of an event, in the order in which they run.
func At(set manifest.Set, event manifest.Event) []manifest.Hook {
	var found []manifest.Hook
	for _, h := range set.Hooks {
		if slices.Contains(h.Events, event) {
			found = append(found, h)
		}
	}
	return found
}
