// Package starter watches objects and wakes their workflows. It writes nothing to
// Kubernetes and decides nothing: the workflow reads the truth itself.
package starter

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update

// workers is how many signals about one kind may be under way at a time.
const workers = 16

// add puts a watch on mgr that looks at an object of k when it changes, and when others
// say so.
func add[O object](mgr manager.Manager, k kind[O], others ...source.TypedSource[key]) error {
	w := &watch[O]{kind: k, reader: mgr.GetClient(), sent: map[key]sent{}, now: realNow}
	c, err := controller.NewTyped(strings.ToLower(k.name), mgr, controller.TypedOptions[key]{Reconciler: w, MaxConcurrentReconciles: workers})
	if err != nil {
		return fmt.Errorf("set up the watch on objects of kind %s: %w", k.name, err)
	}
	own := source.TypedKind(mgr.GetCache(), k.blank(), events[O]())
	for _, s := range append([]source.TypedSource[key]{own}, others...) {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch what concerns objects of kind %s: %w", k.name, err)
		}
	}
	return nil
}

// events names an object by its UID too: after a deletion and a new creation of the
// same name, both matter.
func events[O object]() handler.TypedEventHandler[O, key] {
	type queue = workqueue.TypedRateLimitingInterface[key]
	return handler.TypedFuncs[O, key]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[O], q queue) { q.Add(keyOf(e.Object)) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[O], q queue) {
			q.Add(keyOf(e.ObjectOld)) // the same one, unless the UID is another
			q.Add(keyOf(e.ObjectNew))
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[O], q queue) { q.Add(keyOf(e.Object)) },
	}
}
