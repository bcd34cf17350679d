package hooks_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// world is a namespace in which hooks run. There is no node: tests say how Jobs end.
type world struct {
	*hooks.Runner

	t         *testing.T
	namespace string
	mu        sync.Mutex
	told      []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	logs := func(_ context.Context, _, pod, container string, _ int64) (string, error) {
		return "printed by " + container + " of " + pod + "\n", nil
	}
	namespace := localtest.Namespace(t, c, "hooks")
	// Pods need it, and no controller makes one here.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return &world{
		Runner: &hooks.Runner{Client: c, Logs: logs, Mask: masked, Addon: "shop"},
		t:      t, namespace: namespace,
	}
}

func masked(text string) string { return strings.ReplaceAll(text, "c4nary", "***") }

// job is the hook of a Job, changed by what is given.
func (w *world) job(name string, change ...func(*manifest.Hook)) manifest.Hook {
	return w.hook(`
apiVersion: batch/v1
kind: Job
metadata: {name: `+name+`}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example/none}]
`, change...)
}

func (w *world) hook(text string, change ...func(*manifest.Hook)) manifest.Hook {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(text), &o.Object))
	o.SetNamespace(w.namespace)
	h := manifest.Hook{
		Object: manifest.Object{Unstructured: o, Source: "chart/templates/hook.yaml"},
		Events: []manifest.Event{manifest.PreInstall}, DeletePolicies: []manifest.DeletePolicy{manifest.BeforeHookCreation},
	}
	for _, f := range change {
		f(&h)
	}
	return h
}

func ttl(seconds int64) func(*manifest.Hook) {
	return func(h *manifest.Hook) {
		_ = unstructured.SetNestedField(h.Object.Object, seconds, "spec", "ttlSecondsAfterFinished")
	}
}

func policies(all ...manifest.DeletePolicy) func(*manifest.Hook) {
	return func(h *manifest.Hook) { h.DeletePolicies = all }
}

func logged(all ...manifest.LogPolicy) func(*manifest.Hook) {
	return func(h *manifest.Hook) { h.LogPolicies = all }
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// running is a call of Run.
type running struct {
	output string
	err    error
	done   chan struct{}
}

// start runs h, and returns when its object is there.
func (w *world) start(h manifest.Hook, run string) *running {
	w.t.Helper()
	r := w.run(h, run, time.Minute)
	eventually.Until(w.t, "the object of the hook is there", func() bool {
		live := w.live(h)
		return live != nil && live.GetAnnotations()[addons.AnnotationHookRun] == run
	})
	return r
}

func (w *world) run(h manifest.Hook, run string, timeout time.Duration) *running {
	r := &running{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.output, r.err = w.Run(w.t.Context(), hooks.Ran{Hook: h, Run: run}, timeout, func(words string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, words)
		})
	}()
	return r
}

func (r *running) result() (string, error) {
	<-r.done
	return r.output, r.err
}

// live is what there is of h, nil if there is nothing.
func (w *world) live(h manifest.Hook) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(h.GroupVersionKind())
	err := w.Client.Get(w.t.Context(), client.ObjectKeyFromObject(h), o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return o
}

// status gives the object of h a status, as a controller does.
func (w *world) status(h manifest.Hook, status string) {
	w.t.Helper()
	var s map[string]any
	w.must(yaml.Unmarshal([]byte(status), &s))
	live := w.live(h)
	live.Object["status"] = s
	w.must(w.Client.Status().Update(w.t.Context(), live))
}

const (
	now       = `"2026-01-01T00:00:00Z"`
	completed = `{startTime: ` + now + `, completionTime: ` + now + `, succeeded: 1, conditions: [
  {type: SuccessCriteriaMet, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `},
  {type: Complete, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `}]}`
	failed = `{startTime: ` + now + `, failed: 1, conditions: [
  {type: FailureTarget, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `},
  {type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit, lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `}]}`
)
