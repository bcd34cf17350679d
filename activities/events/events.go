// Package events tells people what became of an object: as Kubernetes Events, which are
// written in the background.
package events

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/internal/text"
)

// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// reportedBy is who the Events say they are from.
const reportedBy = "fairlead"

const (
	eventTimeout = 10 * time.Second
	// maxEvent is what newer versions of the Events API take, in bytes.
	maxEvent = 1024
)

// Event is what people read of a change.
type Event struct {
	// Kind is corev1.EventTypeNormal or Warning.
	Kind, Reason, Message string
}

// Normal is what was to be expected.
func Normal(reason, message string) Event {
	return Event{Kind: corev1.EventTypeNormal, Reason: reason, Message: message}
}

// Warning is what somebody should look at.
func Warning(reason, message string) Event {
	return Event{Kind: corev1.EventTypeWarning, Reason: reason, Message: message}
}

// Recorder writes Kubernetes Events in the background: what goes wrong with that is
// logged, and is nobody else's business. The same Event again only counts up. A nil
// Recorder tells nothing.
type Recorder struct {
	recorder    record.EventRecorder
	broadcaster record.EventBroadcaster
	sink        *eventSink
}

// NewRecorder returns a Recorder that writes with c. It must be closed.
func NewRecorder(c client.Client, log *slog.Logger) *Recorder {
	ctx := logr.NewContext(context.Background(), logr.FromSlogHandler(log.Handler()))
	r := &Recorder{
		broadcaster: record.NewBroadcaster(record.WithContext(ctx), record.WithCorrelatorOptions(record.CorrelatorOptions{SpamKeyFunc: floodOf})),
		sink:        &eventSink{client: c, flushed: make(chan struct{})},
	}
	r.broadcaster.StartRecordingToSink(r.sink)
	r.recorder = r.broadcaster.NewRecorder(c.Scheme(), corev1.EventSource{Component: reportedBy})
	return r
}

// floodOf says which Events one object may have only so many of: those of one reason. An
// object that flaps must still be seen to fail, and to be deleted.
func floodOf(e *corev1.Event) string {
	return string(e.InvolvedObject.UID) + "/" + e.Reason
}

// Tell has the events of o be written, in this order. It does not wait for that.
func (r *Recorder) Tell(o client.Object, events ...Event) {
	if r == nil {
		return
	}
	for _, e := range events {
		r.recorder.Event(o, e.Kind, e.Reason, strings.ToValidUTF8(text.Head(e.Message, maxEvent, ""), ""))
	}
}

// lastEvent is about nothing: when the sink gets it, all before it are written.
var lastEvent = corev1.ObjectReference{Kind: "Flush"}

// Close waits until what was told is written, or ctx ends.
func (r *Recorder) Close(ctx context.Context) {
	r.recorder.Event(&lastEvent, corev1.EventTypeNormal, lastEvent.Kind, "")
	select {
	case <-r.sink.flushed:
	case <-ctx.Done():
	}
	r.broadcaster.Shutdown()
}

// eventSink is where the recorder writes to, one at a time.
type eventSink struct {
	client  client.Client
	flushed chan struct{}
}

// Create implements record.EventSink.
func (s *eventSink) Create(e *corev1.Event) (*corev1.Event, error) {
	if e.InvolvedObject == lastEvent {
		close(s.flushed)
		return e, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	return e, s.client.Create(ctx, e)
}

// Update implements record.EventSink.
func (s *eventSink) Update(e *corev1.Event) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	return e, s.client.Update(ctx, e)
}

// Patch implements record.EventSink.
func (s *eventSink) Patch(e *corev1.Event, data []byte) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	return e, s.client.Patch(ctx, e, client.RawPatch(types.StrategicMergePatchType, data))
}
