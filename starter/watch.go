package starter

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func realNow() time.Time { return time.Now() }

// object is one that a workflow keeps.
type object interface {
	client.Object
	// Released says whether only others hold it back: its workflow has ended for good.
	Released() bool
}

// key names an object for good.
type key struct {
	types.NamespacedName
	UID types.UID
}

func keyOf(o client.Object) key { return key{client.ObjectKeyFromObject(o), o.GetUID()} }

func (k key) String() string {
	return strings.TrimPrefix(k.NamespacedName.String(), string(types.Separator)) // of no namespace
}

// kind is what the watch has to know about one kind of objects.
type kind[O object] struct {
	name  string
	blank func() O
	// inputs are those that the object has, observed those that its status speaks of.
	inputs   func(ctx context.Context, cache client.Reader, o O) (string, error)
	observed func(O) string
	// resend is how long a signal has to show in the object's status before it is sent again.
	resend time.Duration
	// changed wakes the workflow, and starts it if it does not run; gone only wakes it.
	changed, gone func(context.Context, key) error
}

// watch compares each object's inputs with those its status speaks of.
type watch[O object] struct {
	kind[O]
	reader client.Reader
	now    func() time.Time

	mu sync.Mutex
	// sent holds what was signalled and is not in the status yet, so that the
	// workflow's own writes do not wake it again.
	sent map[key]sent
}

type sent struct {
	inputs string
	at     time.Time
}

// Reconcile wakes the workflow of k when the object has inputs that its status does
// not speak of.
func (w *watch[O]) Reconcile(ctx context.Context, k key) (reconcile.Result, error) {
	o := w.blank()
	err := w.reader.Get(ctx, k.NamespacedName, o)
	switch {
	case apierrors.IsNotFound(err), err == nil && o.GetUID() != k.UID:
		w.forget(k)
		return reconcile.Result{}, w.gone(ctx, k)
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read %s %s: %w", w.name, k, err)
	}
	if o.Released() {
		w.forget(k) // others hold it back; our part is done
		return reconcile.Result{}, w.gone(ctx, k)
	}
	inputs, err := w.inputs(ctx, w.reader, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	if inputs == w.observed(o) {
		w.forget(k)
		return reconcile.Result{}, nil
	}
	if rest := w.pending(k, inputs); rest > 0 {
		return reconcile.Result{RequeueAfter: rest}, nil
	}
	if err := w.changed(ctx, k); err != nil {
		return reconcile.Result{}, err
	}
	w.remember(k, inputs)
	return reconcile.Result{RequeueAfter: w.resend}, nil
}

// pending is how long the signal about these inputs still has to take effect.
func (w *watch[O]) pending(k key, inputs string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.sent[k]
	if !ok || s.inputs != inputs {
		return 0
	}
	return w.resend - w.now().Sub(s.at)
}

func (w *watch[O]) remember(k key, inputs string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[k] = sent{inputs: inputs, at: w.now()}
}

func (w *watch[O]) forget(k key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sent, k)
}
