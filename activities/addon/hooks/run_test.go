package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/internal/eventually"
)

func TestAt(t *testing.T) {
	hook := func(name string, events ...manifest.Event) manifest.Hook {
		o := &unstructured.Unstructured{}
		o.SetName(name)
		return manifest.Hook{Object: manifest.Object{Unstructured: o}, Events: events}
	}
	set := manifest.Set{Hooks: []manifest.Hook{
		hook("z", manifest.PreInstall, manifest.PreUpgrade), hook("other", manifest.PostInstall), hook("a", manifest.PreInstall),
	}}
	for event, want := range map[manifest.Event][]string{
		manifest.PreInstall: {"z", "a"}, manifest.PreUpgrade: {"z"}, manifest.PostInstall: {"other"}, manifest.PreDelete: nil,
	} {
		var got []string
		for _, h := range hooks.At(set, event) {
			got = append(got, h.GetName())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %s: %s", event, diff)
		}
	}
}

func TestRun(t *testing.T) {
	t.Run("a Job is waited for, and told of", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		r := w.start(h, "1")
		w.status(h, `{active: 1, startTime: `+now+`}`)
		eventually.Until(t, "the active pod is told of", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return strings.Contains(strings.Join(w.told, "\n"), "1 active")
		})
		w.status(h, completed)
		_, err := r.result()
		w.must(err)
	})
	t.Run("a Job that fails says why", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		r := w.start(h, "1")
		w.status(h, failed)
		w.failed(r, "Job.batch "+w.namespace+"/migrate", "BackoffLimitExceeded: Job has reached the specified backoff limit")
	})
	t.Run("a Job that fails says which container has", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		r := w.start(h, "1")
		pod := w.pod("migrate-x")
		pod.SetLabels(map[string]string{"batch.kubernetes.io/controller-uid": string(w.live(h).GetUID())})
		w.must(w.Client.Create(t.Context(), pod.Unstructured))
		w.status(pod, `{phase: Failed, containerStatuses: [{name: main, image: i, imageID: i, ready: false, restartCount: 0, state: {terminated: {exitCode: 3}}}]}`)
		w.status(h, failed)
		w.failed(r, "BackoffLimitExceeded", "in pod migrate-x, container main ended with code 3")
	})
	t.Run("a Pod is waited for", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check")
		r := w.start(h, "1")
		w.status(h, `{phase: Running}`)
		w.status(h, `{phase: Succeeded}`)
		_, err := r.result()
		w.must(err)
	})
	t.Run("a Pod that fails says which container has", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check")
		r := w.start(h, "1")
		w.status(h, `{phase: Failed, containerStatuses: [{name: main, image: i, imageID: i, ready: false, restartCount: 0, state: {terminated: {exitCode: 3}}}]}`)
		w.failed(r, "Pod "+w.namespace+"/check", "container main ended with code 3")
	})
	t.Run("what does no work is done when it is there", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}")
		_, err := w.run(h, "1", time.Minute).result()
		w.must(err)
		if w.live(h) == nil {
			t.Error("it is not there")
		}
	})
	t.Run("one that does not end fails, and says what its pod waits for", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check")
		r := w.run(h, "1", 2*time.Second)
		eventually.Until(t, "the pod is there", func() bool { return w.live(h) != nil })
		w.status(h, `{phase: Pending, containerStatuses: [{name: main, image: i, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: no such image}}}]}`)
		w.failed(r, "had not ended after 2s", "container main of pod check waits: ImagePullBackOff: no such image")
	})
	t.Run("one that is deleted meanwhile fails", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		r := w.start(h, "1")
		w.must(w.Client.Delete(t.Context(), w.live(h), client.PropagationPolicy(metav1.DeletePropagationBackground)))
		w.failed(r, "was deleted before it had ended")
	})
	t.Run("one that the API server refuses fails, and shows no secret", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook("{apiVersion: v1, kind: Service, metadata: {name: wrong}, spec: {type: c4nary, ports: [{port: 80}]}}")
		r := w.run(h, "1", time.Minute)
		w.failed(r, "was refused", "***")
		if strings.Contains(r.err.Error(), "c4nary") {
			t.Errorf("error %v", r.err)
		}
	})
	t.Run("one without a name gets one", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: once-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-}}")
		for range 2 { // of one run there is one
			_, err := w.run(h, "1", time.Minute).result()
			w.must(err)
		}
		var all corev1.ConfigMapList
		w.must(w.Client.List(t.Context(), &all, client.InNamespace(w.namespace)))
		var names []string
		for _, c := range all.Items {
			if strings.HasPrefix(c.Name, "once-") {
				names = append(names, c.Name)
			}
		}
		if len(names) != 1 {
			t.Errorf("there are %v", names)
		}
	})
}

func TestOutput(t *testing.T) {
	t.Run("of the pods of one that asks for it", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check", logged(manifest.LogSucceeded))
		r := w.start(h, "1")
		w.status(h, `{phase: Succeeded}`)
		output, err := r.result()
		w.must(err)
		if want := "== pod check, container main:\nprinted by main of check\n"; output != want {
			t.Errorf("output %q, want %q", output, want)
		}
	})
	t.Run("of a failure is in its error", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check", logged(manifest.LogFailed))
		r := w.start(h, "1")
		w.status(h, `{phase: Failed}`)
		w.failed(r)
		var f *hooks.FailedError
		if !errors.As(r.err, &f) || !strings.Contains(f.Output, "printed by main") {
			t.Errorf("the error has no output: %+v", f)
		}
	})
	t.Run("is no larger than a history takes, and shows no secret", func(t *testing.T) {
		w := newWorld(t)
		w.Logs = func(_ context.Context, _, _, _ string, last int64) (string, error) {
			return strings.Repeat("c4nary\n", int(last)/7), nil
		}
		h := w.job("many", logged(manifest.LogSucceeded))
		r := w.start(h, "1")
		for n := range 20 {
			pod := w.pod(fmt.Sprint("many-", n))
			pod.SetLabels(map[string]string{"batch.kubernetes.io/controller-uid": string(w.live(h).GetUID())})
			w.must(w.Client.Create(t.Context(), pod.Unstructured))
		}
		w.status(h, completed)
		output, err := r.result()
		w.must(err)
		if len(output) < 4<<10 || len(output) > 17<<10 || strings.Contains(output, "c4nary") {
			t.Errorf("output of %d bytes: %.100q", len(output), output)
		}
	})
	t.Run("is nobody's who does not ask", func(t *testing.T) {
		w := newWorld(t)
		h := w.pod("check", logged(manifest.LogFailed))
		r := w.start(h, "1")
		w.status(h, `{phase: Succeeded}`)
		if output, err := r.result(); output != "" || err != nil {
			t.Errorf("output %q, error %v", output, err)
		}
	})
}

func (w *world) pod(name string, change ...func(*manifest.Hook)) manifest.Hook {
	return w.hook(`
apiVersion: v1
kind: Pod
metadata: {name: `+name+`}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  containers: [{name: main, image: example/none}]
`, change...)
}

// failed says that the hook itself has, in certain words.
func (w *world) failed(r *running, words ...string) {
	w.t.Helper()
	_, err := r.result()
	var f *hooks.FailedError
	if !errors.As(err, &f) {
		w.t.Fatalf("error %v is not that of a hook", err)
	}
	for _, word := range words {
		if !strings.Contains(f.Error(), word) {
			w.t.Errorf("%q does not say %q", f.Error(), word)
		}
	}
}
