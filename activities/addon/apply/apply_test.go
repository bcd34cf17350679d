package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestApply(t *testing.T) {
	t.Run("writes what differs, and nothing the second time", func(t *testing.T) {
		w := newWorld(t, blue, other)
		if diff := cmp.Diff(map[string]bool{"settings": true, "other": true}, written(w.synced())); diff != "" {
			t.Errorf("first: %s", diff)
		}
		w.render(green, other)
		if diff := cmp.Diff(map[string]bool{"settings": true}, written(w.synced())); diff != "" {
			t.Errorf("changed: %s", diff)
		}
		version := w.live(green).GetResourceVersion()
		if diff := cmp.Diff(map[string]bool{}, written(w.synced())); diff != "" || w.live(green).GetResourceVersion() != version {
			t.Errorf("unchanged: %s", diff)
		}
	})
	t.Run("an interrupted sync goes on by the same plan", func(t *testing.T) {
		w := newWorld(t, blue, other)
		p := w.plan()
		_, err := w.Apply(t.Context(), w.Request, p, w.Set.Objects[:1])
		w.must(err)
		done, err := w.sync(p)
		w.must(err)
		if diff := cmp.Diff(map[string]bool{"other": true}, written(done)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what moved is not written, and told", func(t *testing.T) {
		w := newWorld(t, blue, other)
		w.synced()
		w.render(green, other)
		p := w.plan()
		w.patch(blue, `{"data":{"color":"red"}}`)
		_, err := w.sync(p)
		var moved *apply.MovedError
		if !errors.As(err, &moved) || len(moved.Items) != 1 || !strings.Contains(err.Error(), "ConfigMap "+w.ns+"/settings has other values") {
			t.Errorf("error %v", err)
		}
		if got := value(w.live(blue), "data", "color"); got != "red" {
			t.Errorf("color %v", got)
		}
	})
	t.Run("what was made meanwhile is not taken", func(t *testing.T) {
		w := newWorld(t, blue)
		p := w.plan()
		theirs := strings.Replace(blue, "blue", "red", 1)
		w.must(w.c.Create(t.Context(), newWorldObject(w, theirs)))
		_, err := w.sync(p)
		if err == nil || value(w.live(blue), "data", "color") != "red" {
			t.Errorf("error %v, live %v", err, w.live(blue))
		}
	})
	t.Run("another add-on's object is not taken", func(t *testing.T) {
		w := newWorld(t, blue)
		o := newWorldObject(w, strings.Replace(blue, "blue", "red", 1))
		o.SetLabels(map[string]string{addons.LabelAddon: "bakery"})
		w.must(w.c.Create(t.Context(), o))
		_, err := w.sync(w.plan())
		if err == nil || !strings.Contains(err.Error(), "bakery") || strings.Count(err.Error(), "ConfigMap "+w.ns+"/settings") != 1 || value(w.live(blue), "data", "color") != "red" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a kind is used when it is served", func(t *testing.T) {
		w := newWorld(t, widgetKind, widget)
		t.Cleanup(func() { w.must(client.IgnoreNotFound(w.c.Delete(context.Background(), newWorldObject(w, widgetKind)))) })
		w.synced()
		if w.live(widget) == nil {
			t.Error("there is no widget")
		}
	})
	t.Run("a refused object is told by name, and the others of its stage are written", func(t *testing.T) {
		w := newWorld(t, blue, other)
		p := w.plan()
		w.render(strings.Replace(blue, "blue", "{no: string}", 1), other)
		_, err := w.sync(p)
		if err == nil || !strings.Contains(err.Error(), "settings") || w.live(other) == nil {
			t.Errorf("error %v", err)
		}
	})
}

func newWorldObject(w *world, text string) *unstructured.Unstructured {
	w.t.Helper()
	keep := w.Set
	w.render(text)
	o := w.Set.Objects[0].DeepCopy()
	w.Set = keep
	o.SetLabels(nil)
	return o
}

// TestRaces has somebody change things between review and apply.
func TestRaces(t *testing.T) {
	const races = 100
	text := func(i int, color string) string {
		return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d, namespace: NS, annotations: {color: %s}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`, i, color)
	}
	prepare := func(t *testing.T) (*world, *plan.Plan) {
		t.Helper()
		w := newWorld(t)
		all := func(color string) (texts []string) {
			for i := range races {
				texts = append(texts, text(i, color))
			}
			return texts
		}
		w.render(all("blue")...)
		w.synced()
		w.render(all("green")...)
		return w, w.plan()
	}
	each := func(do func(i int)) {
		var all sync.WaitGroup
		for i := range races {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	t.Run("what the plan would change has moved: all are refused", func(t *testing.T) {
		w, p := prepare(t)
		each(func(i int) { w.patch(text(i, ""), `{"metadata":{"annotations":{"color":"red"}}}`) })
		_, err := w.sync(p)
		var moved *apply.MovedError
		if !errors.As(err, &moved) || len(moved.Items) != races {
			t.Fatalf("error %v", err)
		}
		each(func(i int) {
			if got := value(w.live(text(i, "")), "metadata", "annotations", "color"); got != "red" {
				t.Errorf("%d is %v", i, got)
			}
		})
	})
	t.Run("status and others' marks have moved: all are applied", func(t *testing.T) {
		w, p := prepare(t)
		each(func(i int) {
			w.patch(text(i, ""), `{"metadata":{"labels":{"seen-by":"somebody"},"annotations":{"note":"hello"}}}`)
			w.patch(text(i, ""), `{"status":{"observedGeneration":1,"replicas":1,"unavailableReplicas":1}}`, true)
		})
		done, err := w.sync(p)
		w.must(err)
		if n := len(written(done)); n != races {
			t.Errorf("%d were written", n)
		}
		each(func(i int) {
			live := w.live(text(i, ""))
			if value(live, "metadata", "annotations", "color") != "green" || value(live, "metadata", "annotations", "note") != "hello" {
				t.Errorf("%d is %v", i, live.GetAnnotations())
			}
		})
	})
}

const (
	widgetKind = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.apply.example.com}
spec:
  group: apply.example.com
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`
	widget = `
apiVersion: apply.example.com/v1
kind: Widget
metadata: {name: one, namespace: NS}
`
)
