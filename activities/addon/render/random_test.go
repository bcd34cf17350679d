package render_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/render"
)

func TestRandomValuesAreFound(t *testing.T) {
	got, err := render.Random(setOf(t, "random", nil), setOf(t, "random", nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Deployment.apps random .spec.template.spec.containers.name=web.args.0",
		"Deployment.apps random .spec.template.spec.containers.name=web.env.name=TOKEN.value",
		"Job.batch random .spec.nonce",
		"Secret random .metadata.annotations.checksum",
		"Secret random .stringData.ca.crt",
		"Secret random .stringData.ca.key",
		"Secret random .stringData.id",
		"Secret random .stringData.password",
	}
	var lines []string
	for _, p := range got {
		lines = append(lines, p.String())
	}
	if diff := cmp.Diff(want, lines, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("random values (-want +got):\n%s", diff)
	}
}

func TestRandomValuesAreKeptWhenTheClusterMoves(t *testing.T) {
	upgraded := func(r *render.Request) {
		var err error
		if r.Capabilities, err = render.Offline("v1.38.0", []string{"example.com/v1"}); err != nil {
			t.Fatal(err)
		}
	}
	stored, fresh := setOf(t, "random", nil), setOf(t, "random", upgraded)
	random, err := render.Random(fresh, setOf(t, "random", upgraded))
	if err != nil {
		t.Fatal(err)
	}
	got := render.Keep(stored, fresh, random)

	want := setOf(t, "random", nil)
	want.Objects[0].Unstructured = stored.Objects[0].DeepCopy()
	set(t, want.Objects[0], "v1.38.0", "stringData", "kube")
	want.Objects[1].Unstructured = stored.Objects[1].DeepCopy()
	containers, _, _ := unstructured.NestedSlice(want.Objects[1].Object, "spec", "template", "spec", "containers")
	web := containers[0].(map[string]any)
	web["env"] = append([]any{map[string]any{"name": "EXTRA", "value": "yes"}}, web["env"].([]any)...)
	if err := unstructured.SetNestedSlice(want.Objects[1].Object, containers, "spec", "template", "spec", "containers"); err != nil {
		t.Fatal(err)
	}
	want.Hooks[0].Unstructured = stored.Hooks[0].DeepCopy()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fresh, got); diff == "" {
		t.Error("the fresh render was changed, or nothing was kept")
	}
}

func TestKeepLeavesWhatIsNew(t *testing.T) {
	a, b := setOf(t, "random", nil), setOf(t, "random", nil)
	random, err := render.Random(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, render.Keep(manifest.Set{}, b, random)); diff != "" {
		t.Errorf("nothing is stored, and yet (-fresh +kept):\n%s", diff)
	}
}

func TestAMapWithRandomKeysIsKeptAsAWhole(t *testing.T) {
	a, b := setOf(t, "random-shape", nil), setOf(t, "random-shape", nil)
	random, err := render.Random(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, render.Keep(a, b, random)); diff != "" {
		t.Errorf("(-stored +kept):\n%s", diff)
	}
}

// Whether a field is there may depend on chance, or on the time of the render.
func TestAnObjectWithRandomFieldsIsKeptAsAWhole(t *testing.T) {
	object := func(fields map[string]any) manifest.Set {
		fields["apiVersion"], fields["kind"], fields["metadata"] = "v1", "ConfigMap", map[string]any{"name": "a"}
		return manifest.Set{Objects: []manifest.Object{{Unstructured: &unstructured.Unstructured{Object: fields}}}}
	}
	a := object(map[string]any{"data": map[string]any{"token": "stored"}})
	b := object(map[string]any{"data": map[string]any{"token": "fresh"}, "immutable": true})
	random, err := render.Random(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, render.Keep(a, b, random)); diff != "" {
		t.Errorf("(-stored +kept):\n%s", diff)
	}
	if b.Objects[0].Object["immutable"] != true {
		t.Error("the fresh render was changed")
	}
}

func TestARandomNameNamesItsTemplate(t *testing.T) {
	_, err := render.Random(setOf(t, "random-name", nil), setOf(t, "random-name", nil))
	if !errors.Is(err, render.ErrRandomName) || !strings.Contains(err.Error(), "random-name/templates/job.yaml") {
		t.Errorf("got error %v, want one that names the template", err)
	}
}

func TestNothingIsRandomInAChartWithoutRandomness(t *testing.T) {
	for _, chart := range []string{"plain", "parent", "hooks", "capable", "files"} {
		random, err := render.Random(setOf(t, chart, nil), setOf(t, chart, nil))
		if err != nil || len(random) > 0 {
			t.Errorf("chart %s: random %v, error %v", chart, random, err)
		}
	}
}

func set(t *testing.T, o manifest.Object, value string, fields ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
		t.Fatal(err)
	}
}
