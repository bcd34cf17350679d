package render_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

// chartOf renders a chart of the test data.
func chartOf(t testing.TB, chart string, change func(*render.Request)) (*render.Result, error) {
	t.Helper()
	source, err := render.Open(chartDir(chart))
	if err != nil {
		t.Fatal(err)
	}
	req := render.Request{Release: "shop", Namespace: "trade"}
	if req.Capabilities, err = render.Offline("", nil); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&req)
	}
	return render.Chart(t.Context(), source, req)
}

func setOf(t testing.TB, chart string, change func(*render.Request)) manifest.Set {
	t.Helper()
	result, err := chartOf(t, chart, change)
	if err != nil {
		t.Fatal(err)
	}
	set, err := result.Set()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func objectsOf(set manifest.Set) []string {
	var lines []string
	for _, o := range set.Objects {
		line := o.ID().String() + " from " + o.Source
		if o.CRD {
			line += ", first"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestObjectsAreInTheOrderOfAnInstall(t *testing.T) {
	want := []string{
		"Namespace extra from plain/templates/order.yaml",
		"ServiceAccount web from plain/templates/order.yaml",
		"ConfigMap trade/shop-plain from plain/templates/configmap.yaml",
		"Service web from plain/templates/order.yaml",
		"Deployment.apps web from plain/templates/order.yaml",
		"Secret one from plain/templates/list.yaml",
		"Secret two from plain/templates/list.yaml",
		"Widget.example.com odd from plain/templates/order.yaml",
	}
	if diff := cmp.Diff(want, objectsOf(setOf(t, "plain", nil))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestTheCRDsFolderComesFirst(t *testing.T) {
	want := []string{
		"CustomResourceDefinition.apiextensions.k8s.io gadgets.example.com from capable/crds/two.yml, first",
		"Namespace gadgets from capable/crds/two.yml, first",
		"CustomResourceDefinition.apiextensions.k8s.io widgets.example.com from capable/crds/widgets.yaml, first",
		"ConfigMap caps from capable/templates/caps.yaml",
	}
	if diff := cmp.Diff(want, objectsOf(setOf(t, "capable", nil))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestHooksAreInTheOrderInWhichHelmRunsThem(t *testing.T) {
	type hook struct {
		ID       string
		Events   []manifest.Event
		Weight   int
		Policies []manifest.DeletePolicy
		Logs     []manifest.LogPolicy
	}
	byDefault := []manifest.DeletePolicy{manifest.BeforeHookCreation}
	preInstall, preUpgrade := []manifest.Event{manifest.PreInstall}, []manifest.Event{manifest.PreUpgrade}
	want := []hook{
		{"Job.batch early", preInstall, -5, byDefault, []manifest.LogPolicy{manifest.LogSucceeded, manifest.LogFailed}},
		{"ServiceAccount account", preInstall, 0, []manifest.DeletePolicy{"never-heard-of"}, nil},
		{"Pod both", []manifest.Event{manifest.PostInstall}, 0, byDefault, nil},
		{"Job.batch not-a-number", []manifest.Event{manifest.PreInstall, manifest.PostUpgrade}, 0, byDefault, nil},
		{"ServiceAccount same", preUpgrade, 0, byDefault, nil},
		{"ConfigMap same", preUpgrade, 0, byDefault, nil},
		{"Job.batch same", preUpgrade, 0, byDefault, nil},
		{"Widget.example.com same", preUpgrade, 0, byDefault, nil},
		{"ServiceAccount listed", []manifest.Event{manifest.PostInstall, manifest.PostDelete}, 1, byDefault, nil},
		{"Job.batch listed", []manifest.Event{manifest.PostInstall, manifest.PostDelete}, 1, byDefault, nil},
		{"Job.batch late", preInstall, 5, []manifest.DeletePolicy{manifest.HookSucceeded, manifest.HookFailed}, nil},
	}
	set := setOf(t, "hooks", nil)
	var got []hook
	for _, h := range set.Hooks {
		got = append(got, hook{h.ID().String(), h.Events, h.Weight, h.DeletePolicies, h.LogPolicies})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	wantObjects := []string{"ConfigMap kept from hooks/templates/jobs.yaml", "ConfigMap plain from hooks/templates/plain.yaml"}
	if diff := cmp.Diff(wantObjects, objectsOf(set)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestARenderEndsWithItsContext(t *testing.T) {
	source, err := render.Open(chartDir("endless"))
	if err != nil {
		t.Fatal(err)
	}
	caps, err := render.Offline("", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = render.Chart(ctx, source, render.Request{Release: "shop", Namespace: "trade", Capabilities: caps})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a chart that takes minutes: got error %v, want the deadline", err)
	}
}
