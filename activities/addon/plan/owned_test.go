package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

// An inventory that lost its UIDs would have what somebody else made anew pruned.
func TestAnInventoryComesBackFromJSON(t *testing.T) {
	inventory := []plan.Owned{{
		ID:  manifest.ID{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Namespace: "shop", Name: "web"},
		UID: "1",
	}}
	data, err := json.Marshal(inventory)
	if err != nil {
		t.Fatal(err)
	}
	var back []plan.Owned
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inventory, back); diff != "" {
		t.Errorf("%s is (-want +got):\n%s", data, diff)
	}
}
