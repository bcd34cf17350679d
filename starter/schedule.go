package starter

import (
	"bytes"
	"hash/fnv"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
)

const (
	// objectsEvery is the time between two sweeps of the objects.
	objectsEvery = time.Minute
	// catchUp is how late a sweep may begin after an outage: the next one sees as
	// much.
	catchUp = time.Minute
	// runTimeout ends a run that hangs; until then, the next ones are skipped.
	runTimeout = 10 * time.Minute
)

// wanted are all Schedules that there should be.
func (s *Schedules) wanted() []temporalclient.ScheduleOptions {
	var all []temporalclient.ScheduleOptions
	if s.AddonsEvery > 0 {
		all = append(all, schedule(s.AddonsEvery, temporalclient.ScheduleWorkflowAction{
			ID:            wire.SweepAddonsID,
			Workflow:      wire.WorkflowAddonSweep,
			TaskQueue:     wire.QueueAddons,
			StaticSummary: "Sweep of all add-ons",
		}))
	}
	if s.Providers == nil {
		return all
	}
	all = append(all, schedule(objectsEvery, temporalclient.ScheduleWorkflowAction{
		ID:            wire.SweepObjectsID,
		Workflow:      wire.WorkflowObjectSweep,
		TaskQueue:     wire.QueueMain,
		StaticSummary: "Sweep of all objects",
	}))
	for _, name := range s.Providers.Names() {
		all = append(all, schedule(s.Every, temporalclient.ScheduleWorkflowAction{
			ID:                    wire.SweepID(name),
			Workflow:              wire.WorkflowSweep,
			TaskQueue:             wire.QueueMain,
			Args:                  []any{wire.SweepInput{Provider: name}},
			StaticSummary:         "Sweep of provider " + name,
			TypedSearchAttributes: temporal.NewSearchAttributes(wire.KeyProvider.ValueSet(name)),
		}))
	}
	return all
}

// concerns says whether a Schedule is one of those that this starter keeps: another one
// may keep the others.
func (s *Schedules) concerns(id string) bool {
	if id == wire.SweepAddonsID {
		return s.AddonsEvery > 0
	}
	return s.Providers != nil
}

func schedule(every time.Duration, action temporalclient.ScheduleWorkflowAction) temporalclient.ScheduleOptions {
	action.WorkflowRunTimeout = runTimeout
	return temporalclient.ScheduleOptions{
		ID:                 action.ID,
		Spec:               temporalclient.ScheduleSpec{Intervals: []temporalclient.ScheduleIntervalSpec{{Every: every, Offset: offset(action.ID, every)}}},
		Action:             &action,
		Overlap:            enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow:      catchUp,
		TriggerImmediately: true, // when it is made
		Memo:               map[string]any{memoKeeper: keeper},
	}
}

// offset spreads the Schedules over the interval, each at a time that stays its own.
// Temporal counts in whole seconds.
func offset(id string, every time.Duration) time.Duration {
	seconds := uint64(every / time.Second) // #nosec G115 -- the flag is checked to be at least a second
	if seconds == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))                            // a hash takes everything
	return time.Duration(h.Sum64()%seconds) * time.Second // #nosec G115 -- less than the interval
}

// kept says whether a memo has our mark.
func kept(m *commonpb.Memo) bool {
	var by string
	p := m.GetFields()[memoKeeper]
	return p != nil && converter.GetDefaultDataConverter().FromPayload(p, &by) == nil && by == keeper
}

// sameSchedule says whether a Schedule is as o wants it. Whether it is paused is for
// people to say.
func sameSchedule(is temporalclient.Schedule, o temporalclient.ScheduleOptions) bool {
	got, ok := is.Action.(*temporalclient.ScheduleWorkflowAction)
	want, wanted := o.Action.(*temporalclient.ScheduleWorkflowAction)
	policy := temporalclient.SchedulePolicies{Overlap: o.Overlap, CatchupWindow: o.CatchupWindow}
	return ok && wanted && is.Spec != nil && is.Policy != nil &&
		sameSpec(*is.Spec, o.Spec) && *is.Policy == policy && sameAction(got, want)
}

func sameSpec(is, want temporalclient.ScheduleSpec) bool {
	return slices.Equal(is.Intervals, want.Intervals) &&
		len(is.Calendars)+len(is.CronExpressions)+len(is.Skip) == 0 && is.Jitter == 0
}

func sameAction(is, want *temporalclient.ScheduleWorkflowAction) bool {
	provider, _ := is.TypedSearchAttributes.GetKeyword(wire.KeyProvider)
	wanted, _ := want.TypedSearchAttributes.GetKeyword(wire.KeyProvider)
	return is.ID == want.ID && is.Workflow == want.Workflow && is.TaskQueue == want.TaskQueue &&
		is.StaticSummary == want.StaticSummary && provider == wanted &&
		is.WorkflowRunTimeout == want.WorkflowRunTimeout && is.WorkflowExecutionTimeout == 0 &&
		sameInput(is.Args, want.Args)
}

// sameInput compares what Temporal has, encoded, with what is wanted.
func sameInput(is, want []any) bool {
	return slices.EqualFunc(is, want, func(is, want any) bool {
		got, ok := is.(*commonpb.Payload)
		p, err := converter.GetDefaultDataConverter().ToPayload(want)
		return ok && err == nil && bytes.Equal(got.GetData(), p.GetData())
	})
}
