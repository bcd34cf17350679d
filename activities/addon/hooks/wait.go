package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/manifest"
)

// goneWithin is how long the deletion of a hook's object may take.
const goneWithin = 5 * time.Minute

var errGone = errors.New("was deleted before it had ended")

// wait returns when o, a Job or a Pod, has ended.
func (r *Runner) wait(ctx context.Context, o *unstructured.Unstructured, timeout time.Duration, progress func(string)) error {
	if !isJob(o) && !isPod(o) {
		return nil
	}
	id := manifest.IDOf(o)
	patience, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last string
	err := r.until(patience, o, func(live *unstructured.Unstructured) (bool, error) {
		if live == nil || live.GetUID() != o.GetUID() {
			return false, errGone
		}
		done, words, err := ended(live)
		if words != last && words != "" {
			last = words
			progress(words)
		}
		return done, err
	})
	var why *reason
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &why):
		return r.failure(id, why.words)
	case errors.Is(err, errGone):
		return r.failure(id, errGone.Error())
	case patience.Err() != nil:
		return r.failure(id, fmt.Sprintf("had not ended after %s: %s%s", timeout, last, r.stuck(ctx, o)))
	}
	return fmt.Errorf("wait for hook %s: %w", id, err)
}

// reason is why an object has failed.
type reason struct{ words string }

func (r *reason) Error() string { return r.words }

// ended says whether a Job or Pod has, how far it is, and as *reason that it has failed.
func ended(live *unstructured.Unstructured) (done bool, words string, err error) {
	if isPod(live) {
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
	if live.GetDeletionTimestamp() != nil {
		return false, "", errGone
	}
	s := job.Status
	return false, fmt.Sprintf("pods: %d active, %d succeeded, %d failed", s.Active, s.Succeeded, s.Failed), nil
}

// until calls seen with o as it is, nil once it is gone, until that says true or fails.
func (r *Runner) until(ctx context.Context, o *unstructured.Unstructured, seen func(*unstructured.Unstructured) (bool, error)) error {
	none := func(store toolscache.Store) (bool, error) {
		if len(store.List()) > 0 {
			return false, nil
		}
		return seen(nil)
	}
	_, err := watchtools.UntilWithSync(ctx, r.watch(o), &unstructured.Unstructured{}, none, func(e watch.Event) (bool, error) {
		live, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Deleted {
			live = nil
		}
		return seen(live)
	})
	return err
}

// watch lists and watches o alone.
func (r *Runner) watch(o *unstructured.Unstructured) toolscache.ListerWatcher {
	list := func() *unstructured.UnstructuredList {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(o.GroupVersionKind())
		return l
	}
	only := []client.ListOption{client.InNamespace(o.GetNamespace()), client.MatchingFields{"metadata.name": o.GetName()}}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			l := list()
			return l, r.Client.List(ctx, l, append(only, &client.ListOptions{Raw: &raw})...)
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return r.Client.Watch(ctx, list(), append(only, &client.ListOptions{Raw: &raw})...)
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
