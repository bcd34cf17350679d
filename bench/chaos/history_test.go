package main

import (
	"encoding/base64"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
)

func TestProblemOf(t *testing.T) {
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
			if got := problemOf(tt.event, disguises(canary)); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("the verdict is %q, want %q", got, tt.says)
			}
		})
	}
}
