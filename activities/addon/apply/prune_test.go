package apply_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

func TestPrune(t *testing.T) {
	t.Run("what is rendered no more goes", func(t *testing.T) {
		w := newWorld(t, blue, other)
		w.synced()
		w.render(other)
		w.synced()
		if w.live(blue) != nil || w.live(other) == nil {
			t.Errorf("settings %v, other %v", w.live(blue), w.live(other))
		}
	})
	t.Run("what was made anew meanwhile stays", func(t *testing.T) {
		w := newWorld(t, blue, other)
		w.synced()
		w.render(other)
		p := w.plan()
		w.delete(blue)
		w.must(w.c.Create(t.Context(), newWorldObject(w, blue)))
		_, err := w.sync(p)
		if err == nil || !strings.Contains(err.Error(), "settings") || w.live(blue) == nil {
			t.Errorf("error %v, live %v", err, w.live(blue))
		}
	})
	t.Run("what keeps it from going is told", func(t *testing.T) {
		w := newWorld(t, blue, other)
		w.synced()
		w.patch(blue, `{"metadata":{"finalizers":["example.com/wait"]}}`)
		w.render(other)
		told := make(chan string, 100)
		w.Progress = func(words string) { told <- words }
		p := w.plan()
		failed := make(chan error, 1)
		go func() { failed <- w.Applier.Prune(t.Context(), w.Request, p) }()
		eventually.Until(t, "the finalizer is told of", func() bool {
			select {
			case words := <-told:
				return strings.Contains(words, "example.com/wait")
			case <-time.After(10 * time.Millisecond):
				return false
			}
		})
		w.patch(blue, `{"metadata":{"finalizers":null}}`)
		w.must(<-failed)
	})
}

func TestReplace(t *testing.T) {
	job := `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: NS}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: once, image: "once:1"}]}
`
	newer := strings.Replace(job, "once:1", "once:2", 1)
	t.Run("not without leave", func(t *testing.T) {
		w := newWorld(t, job)
		w.synced()
		w.render(newer)
		_, err := w.sync(w.plan())
		if err == nil || !strings.Contains(err.Error(), "replacePolicy") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("deletes and makes it again", func(t *testing.T) {
		w := newWorld(t, job)
		w.synced()
		before := w.live(job).GetUID()
		w.render(newer)
		w.ReplaceAllowed = true
		w.synced()
		if live := w.live(job); live == nil || live.GetUID() == before || !strings.Contains(imageOf(live), "once:2") {
			t.Errorf("live %v", live)
		}
	})
	t.Run("goes on after it was deleted", func(t *testing.T) {
		w := newWorld(t, job)
		w.synced()
		w.render(newer)
		w.ReplaceAllowed = true
		p := w.plan()
		w.delete(job)
		eventually.Until(t, "the Job is gone", func() bool {
			live := w.live(job)
			if live != nil && len(live.GetFinalizers()) > 0 { // no controller takes them off here
				w.patch(job, `{"metadata":{"finalizers":null}}`)
			}
			return live == nil
		})
		_, err := w.sync(p)
		w.must(err)
		if w.live(job) == nil {
			t.Error("it was not made again")
		}
	})
}

func imageOf(o *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	image, _ := first["image"].(string)
	return image
}

func TestAdopt(t *testing.T) {
	w := newWorld(t, blue)
	theirs := newWorldObject(w, strings.Replace(blue, "{color: blue}", "{color: blue, old: thing}", 1))
	w.must(w.c.Create(t.Context(), theirs, client.FieldOwner("helm")))
	w.Adopt = true
	p := w.plan()
	_, err := w.sync(p)
	w.must(err)
	var live corev1.ConfigMap
	w.must(w.c.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "settings"}, &live))
	if live.Data["old"] != "" || live.Data["color"] != "blue" || live.Labels[addons.LabelAddon] != "shop" {
		t.Errorf("what Helm had set and nobody renders is there still: %v, labels %v", live.Data, live.Labels)
	}
	for _, e := range live.ManagedFields {
		if e.Manager == "helm" {
			t.Error("Helm holds fields still")
		}
	}
	if n := len(written(w.synced())); n != 0 {
		t.Errorf("%d are written the second time", n)
	}
}
