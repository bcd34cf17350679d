package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// TestAnObjectWithALargerStatusIsStillEdited has our definition take the place of one
// without limits, as that of the engine before was.
func TestAnObjectWithALargerStatusIsStillEdited(t *testing.T) {
	config := localtest.ControlPlane(t)
	c := localtest.Client(t, config)
	crd := definition(t)
	crd.Spec.Group, crd.Spec.Names.ShortNames = "older.rendimiento.ai", nil // beside the real one
	crd.Name = "addons." + crd.Spec.Group
	anything := true
	limits := crd.Spec.Versions[0].Schema
	crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything},
	}
	define(t, config, crd)

	o := read(t, "reference.yaml")[0]
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: "v1alpha1", Kind: "Addon"})
	status := o.Object["status"].(map[string]any)
	if err := create(t, c, o); err != nil {
		t.Fatal(err)
	}
	var objects, runs []any
	for i := range 800 {
		objects = append(objects, map[string]any{"version": "v1", "kind": "ConfigMap", "name": fmt.Sprint("c", i)})
	}
	for range 30 {
		runs = append(runs, map[string]any{"event": "pre-install", "name": "a", "kind": "Job", "status": "failed", "message": strings.Repeat("a", 5000)})
	}
	status["objects"], status["hookRuns"] = objects, runs
	o.Object["status"] = status
	if err := c.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}

	crd.Spec.Versions[0].Schema = limits
	define(t, config, crd)
	eventually.Until(t, "the limits hold", func() bool {
		wrong := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"namespace":"No_Way"}}`))
		return apierrors.IsInvalid(c.Patch(t.Context(), o.DeepCopy(), wrong, client.DryRunAll))
	})
	for what, patch := range map[string]string{
		"an edit": `{"spec":{"syncRequest":4}}`, "an annotation": `{"metadata":{"annotations":{"rendimiento.ai/paused":"true"}}}`,
	} {
		if err := c.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Errorf("%s is refused: %v", what, err)
		}
	}
	if kept, _, _ := unstructured.NestedSlice(o.Object, "status", "objects"); len(kept) != 800 {
		t.Errorf("of 800 objects, %d are left", len(kept))
	}
}

// define has the API server serve what crd defines.
func define(t *testing.T, config *rest.Config, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	data, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"crd.yaml": {Data: data}}
	if err := controlplane.Apply(t.Context(), config, files, "crd.yaml"); err != nil {
		t.Fatal(err)
	}
}
