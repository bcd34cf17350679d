package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

// TestColumns asks for what kubectl get radd prints.
func TestColumns(t *testing.T) {
	config := localtest.ControlPlane(t)
	c := localtest.Client(t, config)
	a := addon("columns")
	if err := create(t, c, a); err != nil {
		t.Fatal(err)
	}
	a.Status = addons.AddonStatus{
		Phase: addons.PhaseSynced, Revision: "web-1.2.3", Message: "all is well",
		Health: &addons.Health{Status: addons.HealthHealthy},
	}
	if err := c.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &addons.GroupVersion, "/apis", scheme.Codecs.WithoutConversion()
	r, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Get().Resource("addons").Name("columns").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(answer, &table); err != nil || len(table.Rows) != 1 {
		t.Fatalf("the table is %s (%v)", answer, err)
	}
	seen := map[int32][]string{}
	for _, column := range table.ColumnDefinitions {
		seen[column.Priority] = append(seen[column.Priority], column.Name)
	}
	if diff := cmp.Diff(map[int32][]string{0: {"Name", "Phase", "Namespace", "Revision", "Age"}, 1: {"Health", "Message"}}, seen); diff != "" {
		t.Errorf("the columns by priority are others (- wanted, + seen):\n%s", diff)
	}
	cells := table.Rows[0].Cells
	cells[4] = "any age"
	if diff := cmp.Diff([]any{"columns", "Synced", "web", "web-1.2.3", "any age", "Healthy", "all is well"}, cells); diff != "" {
		t.Errorf("the row is another (- wanted, + seen):\n%s", diff)
	}
}

func TestShortName(t *testing.T) {
	crd := definition(t)
	names := crd.Spec.Names
	if names.Plural != "addons" || len(names.ShortNames) != 1 || names.ShortNames[0] != "radd" || crd.Spec.Scope != "Cluster" {
		t.Errorf("an Addon is %s, found as %+v", crd.Spec.Scope, names)
	}
}
