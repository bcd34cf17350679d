package hooks_test

import (
	"errors"
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

func TestOrder(t *testing.T) {
	hook := func(name string, weight int, events ...manifest.Event) manifest.Hook {
		o := &unstructured.Unstructured{}
		o.SetName(name)
		return manifest.Hook{Object: manifest.Object{Unstructured: o}, Weight: weight, Events: events}
	}
	all := []manifest.Hook{
		hook("z", 0, manifest.PreInstall), hook("b", 5, manifest.PreInstall, manifest.PreUpgrade), hook("a", 5, manifest.PreInstall),
		hook("last", 10, manifest.PreInstall), hook("other", -1, manifest.PostInstall), hook("first", -10, manifest.PreInstall),
	}
	var got []string
	for _, h := range hooks.At(all, manifest.PreInstall) {
		got = append(got, h.GetName())
	}
	if diff := cmp.Diff([]string{"first", "z", "a", "b", "last"}, got); diff != "" {
		t.Error(diff)
	}
	if at := hooks.At(all, manifest.PreUpgrade); len(at) != 1 || at[0].GetName() != "b" {
		t.Errorf("at %s: %v", manifest.PreUpgrade, at)
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
	t.Run("one without a name gets one", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: once-}}")
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
		if want := "== pod check, container main\nprinted by main of check\n"; output != want {
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
