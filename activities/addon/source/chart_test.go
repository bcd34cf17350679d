package source_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

const (
	plain = `
apiVersion: v1
kind: ConfigMap
metadata: {name: plain}
data: {release: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
`
	hook = `
apiVersion: v1
kind: ConfigMap
metadata: {name: before, annotations: {helm.sh/hook: pre-install}}
`
	scattered = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role, namespace: wrong}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: default}
---
apiVersion: unknown.example.com/v1
kind: Gizmo
metadata: {name: gizmo}
`
)

func TestWhatIsRenderedIsPlacedAndLabelled(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", plain, hook, scattered)
	for name, c := range map[string]struct {
		edit  func(*addons.AddonSpec)
		want  []string
		hooks int
	}{
		"as the chart says":  {func(*addons.AddonSpec) {}, nil, 1},
		"with its namespace": {func(s *addons.AddonSpec) { s.CreateNamespace = true }, []string{"Namespace trade"}, 1},
		"without hooks":      {func(s *addons.AddonSpec) { s.SkipHooks = true }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.rendered(w.shop(c.edit))
			want := append(c.want, "ConfigMap trade/plain", "ConfigMap default/elsewhere", "ClusterRole.rbac.authorization.k8s.io role", "Gizmo.unknown.example.com gizmo")
			if diff := cmp.Diff(want, ids(r.Set)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if len(r.Set.Hooks) != c.hooks {
				t.Errorf("%d hooks, want %d", len(r.Set.Hooks), c.hooks)
			}
			all := r.Set.Objects
			for _, h := range r.Set.Hooks {
				if h.GetNamespace() != "trade" {
					t.Errorf("the hook is in namespace %q", h.GetNamespace())
				}
				all = append(all, h.Object)
			}
			for _, o := range all {
				if o.GetLabels()[addons.LabelAddon] != "shop" {
					t.Errorf("%s has the labels %v", o.ID(), o.GetLabels())
				}
			}
		})
	}
}

func TestTheReleaseIsCalledAsTheSpecSays(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", plain)
	for want, edit := range map[string]func(*addons.AddonSpec){
		"shop":  func(*addons.AddonSpec) {},
		"other": func(s *addons.AddonSpec) { s.ReleaseName = "other" },
	} {
		r := w.rendered(w.shop(edit))
		if diff := cmp.Diff(map[string]any{"release": want, "namespace": "trade"}, value(t, r, "ConfigMap trade/plain", "data")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestAChartHasTheKindsOfItsOwnDefinitions(t *testing.T) {
	w := newWorld(t)
	w.charts.serveFiles(t, "1.0.0", map[string]string{
		"crds/own.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: owns.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: owns, kind: Own}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
		"templates/own.yaml": `
{{ if .Capabilities.APIVersions.Has "shop.example.com/v1/Own" }}
apiVersion: shop.example.com/v1
kind: Own
metadata: {name: own}
{{ end }}
`,
	})
	want := []string{"CustomResourceDefinition.apiextensions.k8s.io owns.shop.example.com", "Own.shop.example.com trade/own"}
	if diff := cmp.Diff(want, ids(w.rendered(w.shop()).Set)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnObjectThatIsRenderedTwiceIsAnError(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", plain, plain)
	w.fails(w.shop(), "chart shop", w.charts.URL, "trade/plain")
}

func TestAPrivateRepositoryGetsItsCredentials(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", plain)
	w.charts.password = canary
	named := w.shop(func(s *addons.AddonSpec) { s.Source.Helm.CredentialsSecretRef = &addons.SecretRef{Name: "login"} })

	w.failsForGood(w.shop(), "401")
	w.fails(named, "Secret "+w.Namespace+"/login", "create it")
	w.secret("login", "unrelated", "x")
	w.fails(named, "Secret "+w.Namespace+"/login", "username and password, or token")
	login := map[string]string{"username": "robot\n", "password": canary + "\n"}
	for key, text := range login {
		w.patchSecret("login", key, text)
	}
	r := w.rendered(named)
	if !strings.Contains(joined(r.Secrets), canary) {
		t.Error("the password is not masked")
	}
	w.patchSecret("login", "password", canary+"-of-yesterday")
	w.failsForGood(named, "401")
}

func TestAnUnknownAPIIsTold(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", plain)
	w.Cluster = partly{w.cluster}
	if r := w.rendered(w.shop()); r.Partial != "part is missing" {
		t.Errorf("it says %q", r.Partial)
	}
}

// partly is a cluster that could not tell all of its kinds.
type partly struct{ source.Cluster }

func (p partly) Capabilities(ctx context.Context) (render.Capabilities, string, error) {
	caps, _, err := p.Cluster.Capabilities(ctx)
	return caps, "part is missing", err
}

func TestASpecWithoutASourceIsAnError(t *testing.T) {
	w := newWorld(t)
	a := w.shop()
	a.Spec.Source.Helm = nil
	w.fails(a, "add-on shop", "spec.source.helm")
}

func TestErrorsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.charts.serve(t, "1.0.0", `{{ fail (repeat 100000 "x") }}`)
	w.fails(w.shop(), "execution error")
}
