package bench

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// actionsOf counts the billable Actions of a whole run, by the published rules
// (docs.temporal.io/cloud/actions). Heartbeats, queries, rejected updates and what a
// Schedule itself costs leave no event.
func actionsOf(run []*historypb.HistoryEvent) int {
	n := 0
	for _, e := range run {
		n += actionsOfEvent(e)
	}
	if signalledStart(run) {
		n--
	}
	return n
}

func actionsOfEvent(e *historypb.HistoryEvent) int {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, // by a client, a Schedule, or Continue-As-New
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED,
		enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
		enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
		enumspb.EVENT_TYPE_TIMER_STARTED,
		enumspb.EVENT_TYPE_MARKER_RECORDED: // side effects, local activities
		return 1
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED: // the event is of the last attempt
		return int(e.GetActivityTaskStartedEventAttributes().GetAttempt())
	}
	return 0
}

// signalledStart says whether a SignalWithStart began the run: that is one Action,
// whether or not the workflow ran already.
func signalledStart(run []*historypb.HistoryEvent) bool {
	return len(run) > 1 &&
		run[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId() == "" &&
		run[0].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED &&
		run[1].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
}

// actionsOfSchedule is what one execution of a Schedule costs beside its workflow,
// whose start is in the workflow's history.
const actionsOfSchedule = 2

func TestActionsOf(t *testing.T) {
	event := func(kind enumspb.EventType) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{EventType: kind}
	}
	attempt := func(n int32) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{Attempt: n},
		}}
	}
	continued := &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{ContinuedExecutionRunId: "before"},
	}}
	started, signalled := event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
	task := event(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
	for _, tt := range []struct {
		name string
		run  []*historypb.HistoryEvent
		want int
	}{
		{"a start", []*historypb.HistoryEvent{started, task}, 1},
		{"a continued run is a start", []*historypb.HistoryEvent{continued, task}, 1},
		{"a signal with start is one", []*historypb.HistoryEvent{started, signalled, task}, 1},
		{"a start and a signal are two", []*historypb.HistoryEvent{started, task, signalled}, 2},
		{"a signal to a continued run is its own", []*historypb.HistoryEvent{continued, signalled, task}, 2},
		{"each attempt of an activity", []*historypb.HistoryEvent{started, task, attempt(3)}, 4},
		{"timers and search attributes", []*historypb.HistoryEvent{started, task, event(enumspb.EVENT_TYPE_TIMER_STARTED), event(enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES)}, 3},
		{"workflow tasks and results are free", []*historypb.HistoryEvent{started, task, event(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED), event(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED), event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := actionsOf(tt.run); got != tt.want {
				t.Errorf("%d actions, want %d", got, tt.want)
			}
		})
	}
}
