package addon_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

func TestAwaitHealthReturnsWhenItIsAnother(t *testing.T) {
	w := newWorld(t, addons.AddonSpec{}, operator)
	_, done := w.synced()
	if done.Health.Status != "Progressing" {
		t.Fatalf("applied %+v", done)
	}
	in := wire.AddonSettleInput{Addon: w.ref, Inventory: done.Inventory, Told: done.Health}
	_, err := w.AwaitHealth(t.Context(), in)
	var notYet *outcome.NotYet
	if !errors.As(err, &notYet) || notYet.After != time.Second {
		t.Fatalf("the same health: %v", err)
	}
	w.must(w.admin.Delete(t.Context(), w.live(operator)))
	got, err := w.AwaitHealth(t.Context(), in)
	w.must(err)
	want := wire.AddonHealth{Status: "Missing", Message: "Deployment " + w.ns + "/operator: is not there"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
}
