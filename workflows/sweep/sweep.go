// Package sweep holds the scheduled one-shot workflows: one look at a provider, one
// look at all objects, one look at all add-ons. They decide which orphans may go; all looking and acting is
// done by activities.
package sweep

import (
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// Version of the workflows, for the names of their recordings: a run lasts for seconds,
// but one may be under way while they change.
const Version = 1

const (
	// noWorker is how long a task may wait: the next run comes soon.
	noWorker = 50 * time.Second
	// lookTime bounds one look, killTime one deletion.
	lookTime = 2 * time.Minute
	killTime = time.Minute
	// addonsTime bounds the look at all add-ons, which renders each: less than its
	// Schedule gives a run. Without a sign of life for addonsSilence its worker is gone.
	addonsTime    = 9 * time.Minute
	addonsSilence = time.Minute
	// maxOutcome bounds the text about one orphan, in bytes.
	maxOutcome = 200
)

// Provider looks at one provider once. Nothing is tried again: the next run does
// that. A run that fails leaves the suspects of the last one that did not.
func Provider(ctx workflow.Context, in wire.SweepInput) (wire.SweepResult, error) {
	former := formerSuspects(ctx)
	var look wire.Sweep
	looking := withOptions(ctx, wire.ProviderQueue(in.Provider), lookTime, "look at "+in.Provider)
	if err := workflow.ExecuteActivity(looking, wire.ActivitySweep, in).Get(ctx, &look); err != nil {
		return wire.SweepResult{}, err
	}
	v := judge(former, look)
	result := wire.SweepResult{Sweep: look, Orphans: v.orphans}
	result.Suspects = v.suspects
	for _, s := range v.kill {
		outcome, err := deleteOrphan(ctx, in.Provider, s)
		if err != nil {
			return result, err
		}
		result.Kills = append(result.Kills, wire.Kill{Name: s.Name, Outcome: outcome})
	}
	return result, nil
}

// formerSuspects are those of the last run that completed.
func formerSuspects(ctx workflow.Context) []wire.Suspect {
	if !workflow.HasLastCompletionResult(ctx) {
		return nil
	}
	var last wire.SweepResult
	if err := workflow.GetLastCompletionResult(ctx, &last); err != nil {
		workflow.GetLogger(ctx).Warn("the result of the last sweep cannot be read: no suspect is confirmed", "error", err)
		return nil
	}
	return last.Suspects
}

// deleteOrphan says what became of s. Only the end of the workflow is an error.
func deleteOrphan(ctx workflow.Context, provider string, s wire.Suspect) (string, error) {
	killing := withOptions(ctx, wire.ProviderQueue(provider), killTime, "delete orphan "+s.Name)
	var o wire.OrphanOutcome
	err := workflow.ExecuteActivity(killing, wire.ActivityDeleteOrphan, wire.OrphanInput{Provider: provider, Suspect: s}).Get(ctx, &o)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return cut("failed: " + err.Error()), nil
	case !o.Deleted:
		return cut("left alone: " + o.Reason), nil
	}
	return "deleted", nil
}

// Objects looks for objects without a workflow once.
func Objects(ctx workflow.Context) (wire.ObjectSweepResult, error) {
	var result wire.ObjectSweepResult
	looking := withOptions(ctx, wire.QueueMain, lookTime, "look for objects without a workflow")
	err := workflow.ExecuteActivity(looking, wire.ActivitySweepObjects).Get(ctx, &result)
	return result, err
}

// Addons looks at all add-ons once, and wakes those that differ from their status.
func Addons(ctx workflow.Context) (wire.AddonSweepResult, error) {
	var result wire.AddonSweepResult
	looking := withOptions(ctx, wire.QueueAddons, addonsTime, "look at all add-ons")
	looking = workflow.WithHeartbeatTimeout(looking, addonsSilence)
	err := workflow.ExecuteActivity(looking, wire.ActivitySweepAddons).Get(ctx, &result)
	return result, err
}

func withOptions(ctx workflow.Context, queue string, attempt time.Duration, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queue,
		ScheduleToStartTimeout: noWorker,
		StartToCloseTimeout:    attempt,
		ScheduleToCloseTimeout: noWorker + attempt,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
}

func cut(text string) string {
	if len(text) > maxOutcome {
		text = text[:maxOutcome]
	}
	return strings.ToValidUTF8(text, "")
}
