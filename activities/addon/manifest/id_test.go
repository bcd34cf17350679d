package manifest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAnIDComesBackFromJSON(t *testing.T) {
	for want, id := range map[string]ID{
		`{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"}`: {
			GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Namespace: "shop", Name: "web",
		},
		`{"kind":"Namespace","name":"shop"}`: {GroupKind: schema.GroupKind{Kind: "Namespace"}, Name: "shop"},
	} {
		data, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(data)); diff != "" {
			t.Errorf("JSON of %s (-want +got):\n%s", id, diff)
		}
		var back ID
		if err := json.Unmarshal(data, &back); err != nil || back != id {
			t.Errorf("%s came back as %s, error %v", id, back, err)
		}
	}
}

func TestOnlyCustomResourceDefinitionsAreDefinitions(t *testing.T) {
	for gk, want := range map[schema.GroupKind]bool{
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
		{Group: "example.com", Kind: "CustomResourceDefinition"}:          false,
		{Group: "apiextensions.k8s.io", Kind: "ConversionReview"}:         false,
	} {
		if IsDefinition(gk) != want {
			t.Errorf("%s is a definition: %t", gk, !want)
		}
	}
}
