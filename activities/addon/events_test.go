package addon_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/events"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// TestEventsAreWritten: each change once, although each call is repeated.
func TestEventsAreWritten(t *testing.T) {
	o := newOffice(t)
	o.Events = events.NewRecorder(o.Client, localtest.Quiet())
	ref := o.create("told")
	o.claim(ref)
	publish := func(in wire.AddonPublishInput) {
		t.Helper()
		in.Addon = ref
		for range 2 { // as after a reply that was lost
			o.publish(in)
		}
	}
	publish(wire.AddonPublishInput{Status: wire.AddonStatus{Sequence: 1, Phase: "OutOfSync", PlanHash: "p", Counts: wire.AddonCounts{Create: 2}}})
	publish(wire.AddonPublishInput{
		Status: wire.AddonStatus{Sequence: 2, Phase: "Synced", Adopted: true, AppliedHash: "h"},
		Ended:  &wire.AddonSyncEnd{Revision: "demo-1.0.0", At: o.Now(), Outcome: "Succeeded", Message: "2 created"},
	})
	o.edit(ref, func(a *addons.Addon) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, addons.AnnotationUninstall, "true") })
	o.delete(ref)
	for range 2 {
		o.must(o.Release(t.Context(), wire.AddonReleaseInput{Addon: ref, Kept: "Namespace demo"}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if o.Events.Close(ctx); ctx.Err() != nil {
		t.Fatal("the Events are not written in time")
	}
	var list corev1.EventList
	o.must(o.Client.List(t.Context(), &list))
	type heard struct {
		Type, Reason, Message string
		Count                 int32
	}
	var got []heard
	for _, e := range list.Items { // sorted by name, which ends in the time
		if string(e.InvolvedObject.UID) == ref.UID {
			got = append(got, heard{e.Type, e.Reason, e.Message, e.Count})
		}
	}
	want := []heard{
		{"Normal", "OutOfSync", "2 to create", 1}, {"Normal", "Synced", "demo-1.0.0: 2 created", 1},
		{"Normal", "Uninstalled", "left in the cluster: Namespace demo", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
