package addon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// job is a hook.
func job(name, events string) string {
	return `
apiVersion: batch/v1
kind: Job
metadata: {name: ` + name + `, namespace: NS, annotations: {helm.sh/hook: "` + events + `"}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example/none}]
`
}

const (
	now       = `"2026-01-01T00:00:00Z"`
	completed = `{startTime: ` + now + `, completionTime: ` + now + `, succeeded: 1, conditions: [
  {type: SuccessCriteriaMet, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `},
  {type: Complete, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `}]}`
	failed = `{startTime: ` + now + `, failed: 1, conditions: [
  {type: FailureTarget, status: "True", lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `},
  {type: Failed, status: "True", reason: BackoffLimitExceeded, message: it said ` + canary + `, lastProbeTime: ` + now + `, lastTransitionTime: ` + now + `}]}`
)

// finish gives the Job of a hook a status, as its controller does, once it is there.
func (w *world) finish(text, run, status string) {
	w.t.Helper()
	var s map[string]any
	w.must(yaml.Unmarshal([]byte(status), &s))
	eventually.Until(w.t, "the Job of the hook is there", func() bool {
		live := w.live(text)
		return live != nil && live.GetAnnotations()[addons.AnnotationHookRun] == run
	})
	live := w.live(text)
	live.Object["status"] = s
	w.must(w.admin.Status().Update(w.t.Context(), live))
}

// run runs the first hook of an event, and ends it with a status.
func (w *world) run(p wire.AddonPreview, text, event, run, status string) wire.AddonHookResult {
	w.t.Helper()
	type end struct {
		result wire.AddonHookResult
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		var e end
		e.result, e.err = w.RunHook(w.t.Context(), wire.AddonHookInput{Addon: w.ref, Render: p.Render, Event: event, Run: run, Timeout: time.Minute})
		ended <- e
	}()
	w.finish(text, run, status)
	e := <-ended
	w.must(e.err)
	w.quiet(e.result)
	return e.result
}

func TestSyncWithHooks(t *testing.T) {
	pre, post := job("before", "pre-install"), job("after", "post-install,post-upgrade")
	w := newWorld(t, addons.AddonSpec{}, configMap("a", "blue"), pre, post, job("never", "pre-upgrade"))
	w.account()
	p := w.preview()
	want := []wire.AddonHook{
		{Event: "pre-install", Kind: "Job", Name: "before", Works: true},
		{Event: "post-install", Kind: "Job", Name: "after", Works: true},
	}
	if diff := cmp.Diff(want, p.Hooks); diff != "" {
		t.Fatalf("hooks (-want +got):\n%s", diff)
	}
	w.begin(p)
	if early := w.apply(p, wire.PartEarly); early.Written != 0 {
		t.Errorf("early %+v", early)
	}
	if got := w.run(p, pre, "pre-install", "1/pre-install/0", completed); got != (wire.AddonHookResult{}) {
		t.Errorf("the hook ended with %+v", got)
	}
	w.must(w.TidyHooks(t.Context(), wire.AddonTidyInput{Addon: w.ref, Render: p.Render, Event: "pre-install", Runs: []string{"1/pre-install/0"}}))
	if w.live(pre) != nil {
		t.Error("the hook that succeeded is still there")
	}
	w.end(p, w.apply(p, wire.PartRest))
	if again := w.preview(); len(again.Hooks) != 0 || again.Plan != "" {
		t.Errorf("the next preview is %+v", again)
	}
	w.source.all[0] = configMap("a", "red")
	if next := w.preview(); next.Lifecycle != "upgrade" || len(next.Hooks) != 2 || next.Hooks[0].Name != "never" {
		t.Errorf("the preview of an upgrade is %+v", next)
	}
	w.spec(func(s *addons.AddonSpec) { s.SkipHooks = true })
	if next := w.preview(); len(next.Hooks) != 0 {
		t.Errorf("without hooks it is %+v", next)
	}
}

func TestFailedHookTellsWhyAndNoSecret(t *testing.T) {
	pre := job("before", "pre-install")
	w := newWorld(t, addons.AddonSpec{}, pre)
	w.account()
	w.source.secrets = [][]byte{[]byte(canary)}
	p := w.preview()
	got := w.run(p, pre, "pre-install", "1", failed)
	if !strings.Contains(got.Failed, "BackoffLimitExceeded: it said <secret>") {
		t.Errorf("the hook ended with %+v", got)
	}
	w.must(w.TidyHooks(t.Context(), wire.AddonTidyInput{Addon: w.ref, Render: p.Render, Event: "pre-install", Runs: []string{"1"}, Failed: true}))
	if w.live(pre) == nil {
		t.Error("the hook that failed is gone, and has no such policy")
	}
}

func TestHooksOfAnotherLifeAreSuperseded(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, job("bye", "pre-delete"))
	_, err := w.RunHook(t.Context(), wire.AddonHookInput{Addon: w.ref, Event: "pre-delete", Run: "1", Timeout: time.Minute})
	if !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("a pre-delete hook of an add-on that stays: %v", err)
	}
	w.uninstall()
	_, err = w.RunHook(t.Context(), wire.AddonHookInput{Addon: w.ref, Event: "pre-install", Run: "1", Timeout: time.Minute})
	if !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("a pre-install hook of an add-on that goes: %v", err)
	}
}

// account is what pods need, and no controller makes here.
func (w *world) account() {
	w.t.Helper()
	a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "default"}}
	w.must(w.admin.Create(context.WithoutCancel(w.t.Context()), a))
}
