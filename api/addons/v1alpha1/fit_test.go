package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/localtest"
)

// definition is what the API server is told of an Addon.
func definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := deploy.Files.ReadFile("crds/rendimiento.ai_addons.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// publish writes a status, and returns what is stored.
func publish(t *testing.T, status addons.AddonStatus) addons.AddonStatus {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	a := addon("large")
	if err := create(t, c, a); err != nil {
		t.Fatal(err)
	}
	if a.Status = status; c.Status().Update(t.Context(), a) != nil {
		t.Fatal(c.Status().Update(t.Context(), a))
	}
	return a.Status
}

func bytesOf(t *testing.T, status addons.AddonStatus) int {
	t.Helper()
	data, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

func TestStatusFilledToTheLimitsOfTheSchemaIsCutToItsSize(t *testing.T) {
	schema := definition(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	for name, text := range map[string]string{"plain": "a", "control": "\x01", "markup": "<", "wide": "😀", "lines": "\n"} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(filled(t, "status", schema, text))
			if err != nil {
				t.Fatal(err)
			}
			var status addons.AddonStatus
			if err := json.Unmarshal(data, &status); err != nil {
				t.Fatal(err)
			}
			before := bytesOf(t, status)
			status.Fit()
			stored := publish(t, status)
			if got := bytesOf(t, stored); got >= addons.MaxStatusBytes {
				t.Errorf("it takes %d bytes, from %d", got, before)
			}
			if len(stored.Objects) < 15 || len(stored.Preview.Items) < 15 || len(stored.History) < 5 {
				t.Errorf("it shows %d objects, %d items and %d syncs", len(stored.Objects), len(stored.Preview.Items), len(stored.History))
			}
		})
	}
}

// filled is a value that takes all that schema allows, with text for what people read.
func filled(t *testing.T, path string, schema apiextensionsv1.JSONSchemaProps, text string) any {
	t.Helper()
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case schema.Type == "object":
		o := map[string]any{}
		for name, property := range schema.Properties {
			o[name] = filled(t, path+"."+name, property, text)
		}
		return o
	case schema.Type == "array":
		if schema.MaxItems == nil {
			t.Fatalf("%s may have any number of items", path)
		}
		var items []any
		for i := range *schema.MaxItems {
			item := filled(t, path, *schema.Items.Schema, text)
			if len(schema.XListMapKeys) > 0 {
				item.(map[string]any)[schema.XListMapKeys[0]] = fmt.Sprint("type", i)
			}
			items = append(items, item)
		}
		return items
	case schema.Type == "string":
		if schema.MaxLength == nil {
			t.Fatalf("%s may have any length", path)
		}
		if schema.Pattern != "" {
			text = "a"
		}
		return strings.Repeat(text, int(*schema.MaxLength))
	case schema.Type == "integer":
		return 1<<31 - 1
	}
	return true
}

func TestStatusOfALargeChartIsCutToWhatHelps(t *testing.T) {
	long := strings.Repeat("It went wrong: \"é\" is not <b>.\n", 1000)
	status := addons.AddonStatus{
		Message: long, Revision: long, ObjectsTotal: 2000,
		Health:  &addons.Health{Status: addons.HealthDegraded, Message: long},
		Plan:    &addons.Plan{Create: 2000, Unverified: 2000},
		Preview: &addons.Preview{Create: 2000},
		Conditions: []metav1.Condition{{
			Type: addons.ConditionReady, Status: metav1.ConditionFalse, Reason: "Degraded", Message: long, LastTransitionTime: metav1.Unix(1, 0),
		}},
	}
	for i := range 2000 {
		ref := addons.ObjectRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "monitoring", Name: fmt.Sprintf("kube-prometheus-stack-operator-%04d", i)}
		status.Objects = append(status.Objects, ref)
		status.Plan.Items = append(status.Plan.Items, addons.PlanItem{ObjectRef: ref, Action: addons.ActionCreate, Unverified: "namespace monitoring is made in the same plan"})
		status.Preview.Items = append(status.Preview.Items, addons.PreviewItem{ObjectRef: ref, Action: addons.ActionCreate, Diff: long})
		status.Hooks = append(status.Hooks, addons.HookRef{Name: ref.Name, Kind: "Job", Events: []string{"pre-install", "pre-upgrade"}})
		status.HookRuns = append(status.HookRuns, addons.HookRun{Event: "pre-install", Name: ref.Name, Kind: "Job", Status: addons.HookSucceeded})
		status.History = append(status.History, addons.HistoryEntry{At: metav1.Unix(int64(i), 0), Outcome: addons.OutcomeSucceeded, Who: long, Message: "2 objects changed"})
	}
	status.HookRuns[1999].Message, status.History[1999].Message = long, long
	status.Fit()
	got := publish(t, status)

	if n := bytesOf(t, got); n >= addons.MaxStatusBytes {
		t.Errorf("it takes %d bytes", n)
	}
	counts := map[string]int{
		"objects": len(got.Objects), "plan": len(got.Plan.Items), "preview": len(got.Preview.Items),
		"hooks": len(got.Hooks), "runs": len(got.HookRuns), "history": len(got.History),
	}
	want := map[string]int{"objects": 500, "plan": 100, "preview": 100, "hooks": 64, "runs": 20, "history": 10}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("it shows other numbers (- wanted, + stored):\n%s", diff)
	}
	if got.ObjectsTotal != 2000 || got.Plan.Create != 2000 || got.Preview.Create != 2000 {
		t.Errorf("the counts are no longer those of the whole: %d, %d, %d", got.ObjectsTotal, got.Plan.Create, got.Preview.Create)
	}
	if first := got.Objects[0].Name; !strings.HasSuffix(first, "0000") {
		t.Errorf("the first object is %s", first)
	}
	if newest := got.HookRuns[19].Name; !strings.HasSuffix(newest, "1999") {
		t.Errorf("the newest run is %s", newest)
	}
	if newest := got.History[9].At.UTC(); !newest.Equal(time.Unix(1999, 0)) {
		t.Errorf("the newest sync is of %s", newest)
	}
	for what, text := range map[string]string{
		"the message": got.Message, "that of health": got.Health.Message, "that of a condition": got.Conditions[0].Message,
		"that of a run": got.HookRuns[19].Message, "that of a sync": got.History[9].Message,
		"the last difference": got.Preview.Items[99].Diff,
	} {
		if !strings.HasPrefix(text, "It went wrong") || !strings.HasSuffix(text, "… (cut)") {
			t.Errorf("%s does not say that it is cut: %q", what, text)
		}
	}
}

func TestStatusThatFitsStaysAsItIs(t *testing.T) {
	status := addons.AddonStatus{Message: strings.Repeat("é", 500), Preview: &addons.Preview{}, Plan: &addons.Plan{}}
	for i := range 20 {
		ref := addons.ObjectRef{Version: "v1", Kind: "ConfigMap", Namespace: "web", Name: fmt.Sprint("web-", i)}
		status.Objects = append(status.Objects, ref)
		status.Preview.Items = append(status.Preview.Items, addons.PreviewItem{ObjectRef: ref, Action: addons.ActionUpdate, Diff: strings.Repeat("-a\n", 700)})
		status.Plan.Items = append(status.Plan.Items, addons.PlanItem{ObjectRef: ref, Action: addons.ActionUpdate})
	}
	want := *status.DeepCopy()
	status.Fit()
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("it is another (- before, + after):\n%s", diff)
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	for _, text := range []string{"é", "😀", "a\xff", "\u2028", "a\x00\"", "\b\f\x7f"} {
		status := addons.AddonStatus{Revision: strings.Repeat(text, 1000)}
		status.Fit()
		kept := strings.TrimSuffix(status.Revision, " … (cut)")
		data, err := json.Marshal(status.Revision)
		if err != nil || len(data) > 512 || len(data) < 500 {
			t.Errorf("%q takes %d bytes (%v)", text, len(data), err)
		}
		if !strings.HasPrefix(strings.Repeat(text, 1000), kept) || utf8.ValidString(kept) != utf8.ValidString(text) {
			t.Errorf("%q is cut to %q", text, kept)
		}
	}
}
