package object_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/events"
	"example.com/fairlead/activities/object"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// heard is what people see of an Event.
type heard struct {
	Kind, Name, UID, Type, Reason, Message, From, Controller string
	Count                                                    int32
}

// listen returns the Events of ns, in the order in which they came, once all that
// was told is written.
func listen(t *testing.T, a *object.Activities, ns string) []heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	a.Events.Close(ctx)
	if ctx.Err() != nil {
		t.Fatal("the Events are not written in time")
	}
	var list corev1.EventList
	if err := a.Client.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	events := make([]heard, len(list.Items))
	for i, e := range list.Items { // sorted by name, which ends in the time
		events[i] = heard{
			e.InvolvedObject.Kind, e.InvolvedObject.Name, string(e.InvolvedObject.UID),
			e.Type, e.Reason, e.Message, e.Source.Component, e.ReportingController, e.Count,
		}
	}
	return events
}

func TestEventsAreWritten(t *testing.T) {
	a, ns := newActivities(t)
	a.Events = events.NewRecorder(a.Client, localtest.Quiet())
	p := managed(ns, "demo")
	ref := create(t, a, p)
	if _, err := a.Claim(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	ledger := []wire.Entry{{Provider: "known", Place: "zone-a", Name: "proxy-x", Incarnation: 1}}
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sequence := int64(0)
	publish := func(s wire.ProxyStatus, reason, message string) {
		t.Helper()
		sequence++
		s.Sequence, s.Ledger = sequence, ledger
		up := wire.False
		if s.Host != "" {
			up = wire.True
		}
		s.Conditions = []wire.Condition{{Type: wire.ConditionProvisioned, Status: up, Reason: reason, Message: message, Since: since}}
		for range 2 { // as after a reply that was lost
			if err := a.Publish(t.Context(), wire.PublishInput{Proxy: ref, Status: s}); err != nil {
				t.Fatal(err)
			}
		}
	}
	serving := wire.ProxyStatus{Phase: wire.PhaseReady, Host: "127.64.0.1", Port: 3128}
	full := wire.ProxyStatus{Phase: wire.PhaseWaiting}
	publish(full, wire.ReasonQuota, "5 of 5")
	publish(wire.ProxyStatus{Phase: wire.PhaseProvisioning}, wire.ReasonProvisioning, "")
	publish(full, wire.ReasonQuota, "5 of 5")
	publish(serving, wire.ReasonCreated, "")
	publish(wire.ProxyStatus{Phase: wire.PhaseReplacing}, wire.ReasonReplacing, "the spec changed")
	if err := a.Client.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref, Left: []wire.Abandoned{{Entry: ledger[0]}}}); err != nil {
			t.Fatal(err)
		}
	}
	of := func(kind, reason, message string, count int32) heard {
		return heard{"Proxy", "demo", ref.UID, kind, reason, message, "fairlead", "fairlead", count}
	}
	want := []heard{
		of("Warning", "QuotaExceeded", "the provider has no room: 5 of 5", 2),
		of("Normal", "Created", "proxy-x (incarnation 1) on known at zone-a is up and answers at 127.64.0.1:3128", 1),
		of("Normal", "Replacing", "another instance is to take the place: the spec changed", 1),
		of("Warning", "Abandoned", "left behind, as annotation "+crawl.AnnotationSkipCleanup+" asks: proxy-x (incarnation 1) on known at zone-a", 1),
	}
	if diff := cmp.Diff(want, listen(t, a, ns)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
