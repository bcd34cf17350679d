package events_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/events"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// heard is what people see of an Event.
type heard struct {
	Kind, Name, UID, Type, Reason, Message string
	Count                                  int32
}

// listen returns the Events of ns, once all that was told is written.
func listen(t *testing.T, r *events.Recorder, c client.Client, ns string) []heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r.Close(ctx)
	if ctx.Err() != nil {
		t.Fatal("the Events are not written in time")
	}
	var list corev1.EventList
	if err := c.List(t.Context(), &list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	out := make([]heard, len(list.Items))
	for i, e := range list.Items { // sorted by name, which ends in the time
		out[i] = heard{e.InvolvedObject.Kind, e.InvolvedObject.Name, string(e.InvolvedObject.UID), e.Type, e.Reason, e.Message, e.Count}
	}
	return out
}

// object is something to tell of.
func object(t *testing.T, c client.Client) *corev1.ConfigMap {
	t.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: localtest.Namespace(t, c, "events"), Name: "told"}}
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWhatIsTold(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	o := object(t, c)
	r := events.NewRecorder(c, localtest.Quiet())
	r.Tell(o, events.Normal("Created", "it is up"), events.Warning("Failed", strings.Repeat("ä", 2000)))
	r.Tell(o, events.Normal("Created", "it is up"))
	r.Tell(o)
	want := []heard{
		{"ConfigMap", "told", string(o.UID), "Normal", "Created", "it is up", 2},
		{"ConfigMap", "told", string(o.UID), "Warning", "Failed", strings.Repeat("ä", 512), 1},
	}
	if diff := cmp.Diff(want, listen(t, r, c, o.Namespace)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestAnObjectThatFlapsIsStillSeenToBeDeleted: only so many Events of one reason are
// written, and those of the others all the same.
func TestAnObjectThatFlapsIsStillSeenToBeDeleted(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	o := object(t, c)
	r := events.NewRecorder(c, localtest.Quiet())
	for range 60 {
		r.Tell(o, events.Normal("Healthy", "probes get through"), events.Warning("Unhealthy", "probes fail"))
	}
	r.Tell(o, events.Normal("Deleted", "nothing is left of it"))
	told := listen(t, r, c, o.Namespace)
	if !slices.ContainsFunc(told, func(h heard) bool { return h.Reason == "Deleted" }) {
		t.Errorf("the deletion is not told: %+v", told)
	}
}

func TestNobodyIsTold(_ *testing.T) {
	var r *events.Recorder
	r.Tell(&corev1.ConfigMap{}, events.Normal("Created", "it is up"))
}

// mute is a Kubernetes API that takes everything but Events: whoever waits for those
// waits until the test ends.
type mute struct {
	client.Client
	asked chan struct{}
	end   <-chan struct{}
}

func (m mute) Create(ctx context.Context, _ client.Object, _ ...client.CreateOption) error {
	select {
	case m.asked <- struct{}{}:
	case <-m.end:
	}
	<-m.end
	return context.Cause(ctx)
}

func TestAnEventThatIsNotTakenHoldsUpNothing(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	deaf := mute{Client: c, asked: make(chan struct{}), end: t.Context().Done()}
	r := events.NewRecorder(deaf, localtest.Quiet())
	r.Tell(object(t, c), events.Warning("Failed", "no such image"))
	<-deaf.asked
	over, cancel := context.WithCancel(t.Context())
	cancel()
	r.Close(over)
}
