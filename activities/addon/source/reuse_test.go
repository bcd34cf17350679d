package source_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

// random has a value of its own in each render, one of the cluster and one of the values.
const random = `
apiVersion: v1
kind: ConfigMap
metadata: {name: drawn}
data:
  password: {{ randAlphaNum 20 | quote }}
  apis: {{ has "source.example.com/v1/Moved" .Capabilities.APIVersions | quote }}
  color: {{ .Values.color | default "blue" | quote }}
  answer: {{ (lookup "v1" "ConfigMap" .Values.from "answer").data | toJson | quote }}
`

const drawn = "ConfigMap trade/drawn"

func data(t *testing.T, r source.Rendered, key string) any {
	t.Helper()
	return value(t, r, drawn, "data", key)
}

func looking(w *world, values string) *addons.Addon {
	return w.shop(func(s *addons.AddonSpec) { s.Values = "from: " + w.Namespace + "\n" + values })
}

func TestAKnownRenderIsTakenAsItIs(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", random)
	first := w.rendered(looking(w, ""))
	if first.Known != -1 || first.Revision != "shop-1.2.3" || first.Version != "1.2.3" || !strings.HasPrefix(first.Digest, "sha256:") {
		t.Errorf("the first render is %d of the known ones, %s %s %s", first.Known, first.Revision, first.Version, first.Digest)
	}
	other := first.Render
	other.Content, other.Input.Content = "other", "other"
	again := w.rendered(looking(w, ""), other, first.Render)
	if again.Known != 1 || w.renders.n != 1 {
		t.Errorf("it is %d of the known ones, want 1, after %d renders, want 1", again.Known, w.renders.n)
	}
	if diff := cmp.Diff(first.Render, again.Render); diff != "" {
		t.Errorf("(-known +taken):\n%s", diff)
	}
}

func TestOtherValuesAreAnotherRender(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", random)
	first := w.rendered(looking(w, ""))
	second := w.rendered(looking(w, "color: green"), first.Render)
	if second.Known != -1 || w.renders.n != 2 || second.Content == first.Content {
		t.Errorf("known %d, %d renders, content %s after %s", second.Known, w.renders.n, second.Content, first.Content)
	}
	if data(t, second, "color") != "green" || data(t, second, "password") == data(t, first, "password") {
		t.Errorf("got %v", value(t, second, drawn, "data"))
	}
}

func TestAMovedAPIListKeepsWhatIsRandom(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", random)
	first := w.rendered(looking(w, ""))
	w.make(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: moveds.source.example.com}
spec:
  group: source.example.com
  scope: Cluster
  names: {plural: moveds, kind: Moved}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	var second source.Rendered
	eventually.Until(t, "charts are told of the kind", func() bool {
		w.cluster.Refresh()
		w.renders.n = 0
		second = w.rendered(looking(w, ""), first.Render)
		return data(t, second, "apis") == "true"
	})
	if data(t, second, "password") != data(t, first, "password") {
		t.Error("the password is another one")
	}
	if second.Known != -1 || w.renders.n != 2 || second.Content != first.Content || second.Input == first.Input {
		t.Errorf("known %d, %d renders, content %s after %s", second.Known, w.renders.n, second.Content, first.Content)
	}
	if third := w.rendered(looking(w, ""), second.Render); third.Known != 0 || w.renders.n != 2 {
		t.Errorf("then it is rendered again: known %d, %d renders", third.Known, w.renders.n)
	}
}

func TestAnotherAnswerKeepsWhatIsRandom(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", random)
	answer := w.configMap("answer", "is", "one")
	first := w.rendered(looking(w, ""))
	if data(t, first, "answer") != `{"is":"one"}` {
		t.Fatalf("templates were told %v", data(t, first, "answer"))
	}
	answer.Labels = map[string]string{"some": "label"}
	answer.Data["is"] = "two"
	w.must(w.admin.Update(t.Context(), answer))
	second := w.rendered(looking(w, ""), first.Render)
	if data(t, second, "answer") != `{"is":"two"}` || data(t, second, "password") != data(t, first, "password") {
		t.Errorf("got %v after %v", value(t, second, drawn, "data"), value(t, first, drawn, "data"))
	}
	if second.Known != -1 || second.Content != first.Content {
		t.Errorf("known %d, content %s after %s", second.Known, second.Content, first.Content)
	}
	if third := w.rendered(looking(w, ""), second.Render); third.Known != 0 {
		t.Error("the answer stays, and it is rendered again")
	}
}

func TestWhatTheSpecAddsIsPartOfTheContent(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", random)
	first := w.rendered(looking(w, ""))
	for name, edit := range map[string]func(*addons.AddonSpec){
		"createNamespace": func(s *addons.AddonSpec) { s.CreateNamespace = true },
		"skipHooks":       func(s *addons.AddonSpec) { s.SkipHooks = true },
	} {
		t.Run(name, func(t *testing.T) {
			a := looking(w, "")
			edit(&a.Spec)
			second := w.rendered(a, first.Render)
			if second.Known != -1 || second.Content == first.Content {
				t.Error("the known render is taken")
			}
			if data(t, second, "password") != data(t, first, "password") {
				t.Error("the password is another one")
			}
		})
	}
}

func TestANameThatIsRandomIsAnErrorOnlyWhereValuesHaveToBeKept(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.2.3", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ randAlpha 8 | lower | quote }}}
`)
	first := w.rendered(w.shop())
	if again := w.rendered(w.shop(), first.Render); again.Known != 0 {
		t.Error("the known render is not taken")
	}
	moved := first.Render
	moved.Input.Cluster = "another"
	if _, err := w.Render(t.Context(), w.shop(), moved); !errors.Is(err, render.ErrRandomName) {
		t.Errorf("got %v", err)
	}
}
