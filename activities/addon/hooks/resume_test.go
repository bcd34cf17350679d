package hooks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/hooks"
	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestResume(t *testing.T) {
	t.Run("a run that goes on waits for the Job that it has made", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		dead, kill := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := w.Run(dead, hooks.Ran{Hook: h, Run: "1"}, time.Minute, func(string) {})
			first <- err
		}()
		w.start(h, "1") // at the same time, as after a worker that only seemed dead
		uid := w.live(h).GetUID()
		kill()
		if err := <-first; err == nil {
			t.Error("a run that was given up says that it is done")
		}
		w.status(h, completed)
		_, err := w.run(h, "1", time.Minute).result()
		w.must(err)
		if w.live(h).GetUID() != uid {
			t.Error("the hook has run again")
		}
	})
	t.Run("the next run makes another one", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		r := w.start(h, "1")
		w.status(h, completed)
		_, err := r.result()
		w.must(err)
		uid := w.live(h).GetUID()
		r = w.start(h, "2")
		if w.live(h).GetUID() == uid {
			t.Error("it is that of the run before")
		}
		w.status(h, completed)
		_, err = r.result()
		w.must(err)
	})
	t.Run("two hooks of one name at one event both run", func(t *testing.T) {
		w := newWorld(t)
		first, second := w.job("migrate"), w.job("migrate", policies(manifest.BeforeHookCreation, manifest.HookSucceeded))
		r := w.start(first, "1/pre-install/0")
		w.status(first, completed)
		_, err := r.result()
		w.must(err)
		r = w.start(second, "1/pre-install/1")
		w.status(second, completed)
		_, err = r.result()
		w.must(err)
		w.must(w.Succeeded(t.Context(), []hooks.Ran{{Hook: first, Run: "1/pre-install/0"}, {Hook: second, Run: "1/pre-install/1"}}))
		if w.live(second) != nil {
			t.Error("the second one's policy has nothing deleted")
		}
	})
	t.Run("what is in the way stays without the policy", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate", policies(manifest.HookSucceeded))
		w.must(w.Client.Create(t.Context(), h.DeepCopy()))
		w.failed(w.run(h, "1", time.Minute), "it exists already", "before-hook-creation")
		if w.live(h) == nil {
			t.Error("it was deleted")
		}
	})
	t.Run("what belongs to another add-on stays", func(t *testing.T) {
		w := newWorld(t)
		h := w.job("migrate")
		theirs := h.DeepCopy()
		theirs.SetLabels(map[string]string{addons.LabelAddon: "bakery"})
		w.must(w.Client.Create(t.Context(), theirs))
		w.failed(w.run(h, "1", time.Minute), "belongs to add-on bakery")
		if w.live(h) == nil {
			t.Error("it was deleted")
		}
	})
}

func TestTTL(t *testing.T) {
	seconds := func(o *unstructured.Unstructured) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, "spec", "ttlSecondsAfterFinished")
		return n
	}
	w := newWorld(t)
	h := w.job("migrate", ttl(0))
	r := w.start(h, "1")
	if got := seconds(w.live(h)); got < 3600 {
		t.Errorf("the Job goes %d s after it has ended: its outcome may not be seen", got)
	}
	w.status(h, completed)
	_, err := r.result()
	w.must(err)
	w.must(w.Succeeded(t.Context(), ran("1", h)))
	if live := w.live(h); live != nil && seconds(live) != 0 { // a controller may have deleted it by now
		t.Errorf("its TTL stays %d s, the chart has 0", seconds(live))
	}
	long := w.job("slow", ttl(86400))
	w.start(long, "1")
	if got := seconds(w.live(long)); got != 86400 {
		t.Errorf("a long TTL became %d", got)
	}
}

// ran are hooks as they were run.
func ran(run string, all ...manifest.Hook) []hooks.Ran {
	var done []hooks.Ran
	for _, h := range all {
		done = append(done, hooks.Ran{Hook: h, Run: run})
	}
	return done
}

func TestTidy(t *testing.T) {
	// done is hooks of the policies that have run.
	done := func(w *world, all ...[]manifest.DeletePolicy) []manifest.Hook {
		var ran []manifest.Hook
		for i, p := range all {
			h := w.hook("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+string(rune('a'+i))+"}}", policies(p...))
			_, err := w.run(h, "1", time.Minute).result()
			w.must(err)
			ran = append(ran, h)
		}
		return ran
	}
	stays := func(w *world, ran []manifest.Hook) string {
		var left string
		for _, h := range ran {
			if w.live(h) != nil {
				left += h.GetName()
			}
		}
		return left
	}
	succeeded := []manifest.DeletePolicy{manifest.HookSucceeded}
	failed := []manifest.DeletePolicy{manifest.HookFailed}
	always := []manifest.DeletePolicy{manifest.HookSucceeded, manifest.HookFailed}
	before := []manifest.DeletePolicy{manifest.BeforeHookCreation}

	t.Run("nothing goes before all have run", func(t *testing.T) {
		w := newWorld(t)
		if left := stays(w, done(w, succeeded, always)); left != "ab" {
			t.Errorf("%q stay", left)
		}
	})
	t.Run("after all have succeeded, those go that say so", func(t *testing.T) {
		w := newWorld(t)
		all := done(w, succeeded, failed, always, before)
		for range 2 {
			w.must(w.Succeeded(t.Context(), ran("1", all...)))
		}
		if left := stays(w, all); left != "bd" {
			t.Errorf("%q stay", left)
		}
	})
	t.Run("after a failure, it goes by its policy and those before it by theirs", func(t *testing.T) {
		w := newWorld(t)
		all := done(w, succeeded, failed, before, always)
		w.must(w.Failed(t.Context(), ran("1", all...)[3], ran("1", all[:3]...)))
		if left := stays(w, all); left != "bc" {
			t.Errorf("%q stay", left)
		}
		all = done(w, succeeded)
		w.must(w.Failed(t.Context(), ran("1", all...)[0], nil))
		if left := stays(w, all); left != "a" {
			t.Errorf("%q stay of one that failed and goes when it succeeds", left)
		}
	})
	t.Run("what another run has made stays", func(t *testing.T) {
		w := newWorld(t)
		all := done(w, succeeded)
		w.must(w.Succeeded(t.Context(), ran("another", all...)))
		if left := stays(w, all); left != "a" {
			t.Errorf("%q stay", left)
		}
	})
	t.Run("a definition never goes", func(t *testing.T) {
		w := newWorld(t)
		h := w.hook(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hooks.tidy.example.com}
spec:
  group: tidy.example.com
  names: {kind: Hook, plural: hooks}
  scope: Cluster
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, policies(manifest.HookSucceeded), func(h *manifest.Hook) { h.SetNamespace("") })
		t.Cleanup(func() { w.must(client.IgnoreNotFound(w.Client.Delete(context.Background(), h.DeepCopy()))) })
		_, err := w.run(h, "1", time.Minute).result()
		w.must(err)
		w.must(w.Succeeded(t.Context(), ran("1", h)))
		if w.live(h) == nil || w.live(h).GetAnnotations()[addons.AnnotationHookRun] != "1" {
			t.Error("the definition is gone")
		}
	})
}

func TestTimeoutCountsFromWhenTheRunBegan(t *testing.T) {
	w := newWorld(t)
	h := w.job("migrate")
	_, err := w.Run(t.Context(), hooks.Ran{Hook: h, Run: "1", Began: time.Now().Add(-time.Hour)}, 10*time.Minute, func(string) {})
	var failed *hooks.FailedError
	if !errors.As(err, &failed) || !strings.Contains(failed.Why, "had not ended after 10m0s") {
		t.Errorf("the error is %v", err)
	}
}
