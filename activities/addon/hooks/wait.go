package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
)

// goneWithin is how long the deletion of a hook's object may take.
const goneWithin = 5 * time.Minute

// lastLook is how long it may take to read an object when its time is over.
const lastLook = 10 * time.Second

var errGone = errors.New("was deleted before it had ended")

// wait returns when o, a Job or a Pod, has ended. Only of an object that was read and has not
// ended in time it says that it has failed.
func (r *Runner) wait(ctx context.Context, o *unstructured.Unstructured, began time.Time, timeout time.Duration, progress func(string)) error {
	if !works(o) {
		return nil
	}
	if began.IsZero() {
		began = time.Now()
	}
	patience, cancel := context.WithDeadline(ctx, began.Add(timeout))
	defer cancel()
	var last string
	look := func(live *unstructured.Unstructured) (bool, error) {
		if live == nil || live.GetUID() != o.GetUID() {
			return false, errGone
		}
		done, words, err := ended(live)
		if words != last && words != "" {
			last = words
			progress(words)
		}
		return done, err
	}
	err := r.until(patience, o, look)
	if patience.Err() != nil && ctx.Err() == nil {
		err = r.late(ctx, o, look, err, timeout)
	}
	var why *reason
	switch {
	case errors.As(err, &why):
		return r.failure(manifest.IDOf(o), why.words+r.broken(ctx, o))
	case errors.Is(err, errGone):
		return r.failure(manifest.IDOf(o), errGone.Error())
	case err != nil:
		return fmt.Errorf("wait for hook %s: %w", manifest.IDOf(o), err)
	}
	return nil
}

// late looks at o once more when its time is over: a watch may have been away.
func (r *Runner) late(ctx context.Context, o *unstructured.Unstructured, look func(*unstructured.Unstructured) (bool, error), waited error, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, lastLook)
	defer cancel()
	live, err := r.live(ctx, o)
	if err != nil {
		return errors.Join(err, waited)
	}
	done, err := look(live)
	if done || err != nil {
		return err
	}
	_, words, _ := ended(live)
	return &reason{fmt.Sprintf("had not ended after %s: %s%s", timeout, words, r.stuck(ctx, o))}
}

// reason is why an object has failed.
type reason struct{ words string }

func (r *reason) Error() string { return r.words }

// ended says whether a Job or Pod has, how far it is, and as *reason that it has failed.
func ended(live *unstructured.Unstructured) (done bool, words string, err error) {
	if isPod(live) {
		done, words, err = podEnded(live)
	} else {
		done, words, err = jobEnded(live)
	}
	if !done && err == nil && live.GetDeletionTimestamp() != nil {
		err = errGone
	}
	return done, words, err
}

func podEnded(live *unstructured.Unstructured) (done bool, words string, err error) {
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &pod); err != nil {
		return false, "", err
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return true, "", nil
	case corev1.PodFailed:
		return false, "", &reason{"failed: " + joined(pod.Status.Reason, podFailure(&pod))}
	}
	return false, "pod is " + string(pod.Status.Phase), nil
}

func jobEnded(live *unstructured.Unstructured) (done bool, words string, err error) {
	var job batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &job); err != nil {
		return false, "", err
	}
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return true, "", nil
		case c.Type == batchv1.JobFailed:
			return false, "", &reason{"failed: " + joined(c.Reason, c.Message)}
		}
	}
	if ptr.Deref(job.Spec.Suspend, false) {
		return false, "it is suspended", nil
	}
	s := job.Status
	return false, fmt.Sprintf("pods: %d active, %d succeeded, %d failed", s.Active, s.Succeeded, s.Failed), nil
}

// until calls seen with o as it is, nil once it is gone, until that says true or fails.
func (r *Runner) until(ctx context.Context, o *unstructured.Unstructured, seen func(*unstructured.Unstructured) (bool, error)) error {
	live, err := r.live(ctx, o)
	if err != nil {
		return err
	}
	if done, err := seen(live); done || err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	none := func(store toolscache.Store) (bool, error) {
		if len(store.List()) > 0 {
			return false, nil
		}
		return seen(nil)
	}
	_, err = watchtools.UntilWithSync(ctx, r.watch(o, stop), &unstructured.Unstructured{}, none, func(e watch.Event) (bool, error) {
		live, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Deleted {
			live = nil
		}
		return seen(live)
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// watch lists and watches o alone. Where that is not allowed, it stops who waits: the
// reflector tries for ever.
func (r *Runner) watch(o *unstructured.Unstructured, stop context.CancelCauseFunc) toolscache.ListerWatcher {
	list := func() *unstructured.UnstructuredList {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(o.GroupVersionKind())
		return l
	}
	look := func(err error) error {
		if apierrors.IsForbidden(err) {
			stop(err)
		}
		return err
	}
	only := []client.ListOption{client.InNamespace(o.GetNamespace()), client.MatchingFields{"metadata.name": o.GetName()}}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			l := list()
			return l, look(r.Client.List(ctx, l, append(only, &client.ListOptions{Raw: &raw})...))
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			w, err := r.Client.Watch(ctx, list(), append(only, &client.ListOptions{Raw: &raw})...)
			return w, look(err)
		},
	}
}

// untilGone returns when o is gone, or another one has its name.
func (r *Runner) untilGone(ctx context.Context, o *unstructured.Unstructured) error {
	patience, cancel := context.WithTimeout(ctx, goneWithin)
	defer cancel()
	finalizers := o.GetFinalizers()
	err := r.until(patience, o, func(live *unstructured.Unstructured) (bool, error) {
		if live == nil || live.GetUID() != o.GetUID() {
			return true, nil
		}
		finalizers = live.GetFinalizers()
		return false, nil
	})
	if err != nil && len(finalizers) > 0 {
		return fmt.Errorf("finalizers %q are on it: %w", finalizers, err)
	}
	return err
}

func joined(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}
