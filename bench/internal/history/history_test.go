package history

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
)

func TestProblem(t *testing.T) {
	const canary = "CANARY0123456789abcdef"
	payload := func(data string) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte(data)}}},
			},
		}}
	}
	failure := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
		ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
			Failure: &failurepb.Failure{Message: "refused", Cause: &failurepb.Failure{Message: "user crawler:" + canary}},
		},
	}}
	encoded := func(text string) string {
		return `{"userData":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`
	}
	for _, tt := range []struct {
		name  string
		event *historypb.HistoryEvent
		says  string
	}{
		{"a reference", payload(`{"secret":"auth-0001"}`), ""},
		{"a secret in a payload", payload(`{"password":"` + canary + `x"}`), "secret"},
		{"a secret in the cause of a failure", failure, "secret"},
		{"a secret as bytes", payload(encoded(canary)), "secret"},
		{"a secret as bytes, one further", payload(encoded("#" + canary + "\n")), "secret"},
		{"a secret as bytes, two further", payload(encoded("# " + canary)), "secret"},
		{"a large event", payload(strings.Repeat("x", maxEvent)), "bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Problem(tt.event, Disguises(canary)); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("the verdict is %q, want %q", got, tt.says)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event *historypb.HistoryEvent
		want  []string
	}{
		{"a first run", &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{FirstExecutionRunId: "a", OriginalExecutionRunId: "a"},
		}}, []string{"a", "a"}},
		{"a run that goes on", &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{FirstExecutionRunId: "a", ContinuedExecutionRunId: "b"},
		}}, []string{"a", "b"}},
		{"a run that is continued", &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{NewExecutionRunId: "c"},
		}}, []string{"c"}},
		{"a reset", &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskFailedEventAttributes{
			WorkflowTaskFailedEventAttributes: &historypb.WorkflowTaskFailedEventAttributes{BaseRunId: "c", NewRunId: "d"},
		}}, []string{"c", "d"}},
		{"another event", &historypb.HistoryEvent{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Links(tt.event), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}
