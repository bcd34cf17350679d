package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// parsed are objects of one line of YAML each.
func parsed(t *testing.T, lines ...string) []Object {
	t.Helper()
	objects, err := Parse("file.yaml", []byte(strings.Join(lines, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// cluster knows ConfigMaps, Jobs and Namespaces.
func cluster(gvk schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = map[string]bool{"ConfigMap": true, "Job": true, "Namespace": false}[gvk.Kind]
	return namespaced, known
}

const widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
  spec: {group: example.com, scope: Namespaced, names: {kind: Widget}}}`

func TestPlaceGivesObjectsTheirNamespaces(t *testing.T) {
	for name, tt := range map[string]struct {
		objects []string
		want    []string
		foreign []string
		unknown []string
	}{
		"none in a namespaced object":     {objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"}, want: []string{"ConfigMap home/a"}},
		"null in a namespaced object":     {objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: }}"}, want: []string{"ConfigMap home/a"}},
		"the add-on's":                    {objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: home}}"}, want: []string{"ConfigMap home/a"}},
		"another one":                     {objects: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: away}}"}, want: []string{"ConfigMap away/a"}, foreign: []string{"ConfigMap away/a"}},
		"one on a cluster-scoped object":  {objects: []string{"{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: home}}"}, want: []string{"Namespace a"}},
		"none on a cluster-scoped object": {objects: []string{"{apiVersion: v1, kind: Namespace, metadata: {name: a}}"}, want: []string{"Namespace a"}},
		"a kind that nobody knows":        {objects: []string{"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}"}, want: []string{"Widget.example.com a"}, unknown: []string{"Widget.example.com a"}},
		"a kind that the set defines": {
			objects: []string{"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}", widgets},
			want:    []string{"Widget.example.com home/a", "CustomResourceDefinition.apiextensions.k8s.io widgets.example.com"},
			unknown: []string{"CustomResourceDefinition.apiextensions.k8s.io widgets.example.com"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := parsed(t, tt.objects...)
			set := Set{Objects: objects, Hooks: []Hook{{Object: objects[0], Weight: 3}}}
			before, err := Encode(set)
			if err != nil {
				t.Fatal(err)
			}
			placed := Place(set, Placement{Namespace: "home", Scope: cluster})
			if diff := cmp.Diff(tt.want, words(placed.Objects)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if hook := placed.Hooks[0]; hook.ID().String() != tt.want[0] || hook.Weight != 3 {
				t.Errorf("the hook is %s, of weight %d", hook.ID(), hook.Weight)
			}
			// The hook is the first object once more.
			if diff := cmp.Diff(append(tt.foreign, tt.foreign...), idWords(placed.Foreign)); diff != "" {
				t.Errorf("foreign (-want +got):\n%s", diff)
			}
			if got := idWords(placed.Unknown); len(tt.unknown) > 0 && (len(got) == 0 || got[0] != tt.unknown[0]) || len(tt.unknown) == 0 && len(got) > 0 {
				t.Errorf("unknown are %v, not %v", got, tt.unknown)
			}
			if after, err := Encode(set); err != nil || string(after) != string(before) {
				t.Errorf("the set that was placed is now (error %v)\n%s", err, after)
			}
		})
	}
}

func words(objects []Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.ID().String())
	}
	return all
}

func idWords(ids []ID) []string {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return all
}

func TestLabelIsOnObjectsAndHooksOnly(t *testing.T) {
	objects := parsed(t,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: }}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {own: x, addon: z}}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: d}, spec: {template: {metadata: {labels: {own: x}}}}}",
	)
	set := Set{Objects: objects[:3], Hooks: []Hook{{Object: objects[3]}}}
	labelled := Label(set, "addon", "web")
	var got []map[string]string
	for _, o := range append(labelled.Objects, labelled.Hooks[0].Object) {
		got = append(got, o.GetLabels())
	}
	want := []map[string]string{{"addon": "web"}, {"addon": "web"}, {"own": "x", "addon": "web"}, {"addon": "web"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(objects[3].Object["spec"], labelled.Hooks[0].Object.Object["spec"]); diff != "" {
		t.Errorf("the pod template (-want +got):\n%s", diff)
	}
	if before := objects[2].GetLabels()["addon"]; before != "z" {
		t.Errorf("the object that was labelled has now the label %q itself", before)
	}
}

func TestWithNamespaceAddsTheMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		object string
		want   []string
	}{
		"none":        {"{apiVersion: v1, kind: ConfigMap, metadata: {name: home}}", []string{"Namespace home", "ConfigMap home"}},
		"another":     {"{apiVersion: v1, kind: Namespace, metadata: {name: away}}", []string{"Namespace home", "Namespace away"}},
		"that one":    {"{apiVersion: v1, kind: Namespace, metadata: {name: home}}", []string{"Namespace home"}},
		"a like kind": {"{apiVersion: example.com/v1, kind: Namespace, metadata: {name: home}}", []string{"Namespace home", "Namespace.example.com home"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := WithNamespace(Set{Objects: parsed(t, tt.object)}, "home", "createNamespace")
			if diff := cmp.Diff(tt.want, words(got.Objects)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckNamesWhatIsTwice(t *testing.T) {
	for name, tt := range map[string]struct {
		objects []string
		want    string
	}{
		"all different": {[]string{
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: away}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: a}}",
		}, ""},
		"twice, in two versions": {[]string{
			"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: home}}",
			"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: home}}",
		}, "HorizontalPodAutoscaler.autoscaling home/a is in 0.yaml (as autoscaling/v1) and in 1.yaml (as autoscaling/v2): leave one of them out"},
		"without a name": {[]string{
			"{apiVersion: batch/v1, kind: Job, metadata: {generateName: a-}}",
		}, "0.yaml: Job has a generateName for its name: only hooks can, give it a name"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := parsed(t, tt.objects...)
			for i := range objects {
				objects[i].Source = string(rune('0'+i)) + ".yaml"
			}
			got := ""
			if err := Check(Set{Objects: objects}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if err := Check(Set{Hooks: []Hook{{Object: objects[0]}, {Object: objects[0]}}}); err != nil {
				t.Errorf("hooks are refused: %v", err)
			}
		})
	}
}
