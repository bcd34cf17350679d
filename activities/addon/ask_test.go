package addon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/temporal/wire"
)

func TestAskForSync(t *testing.T) {
	o := newOffice(t)
	planA, planB := strings.Repeat("a", 20), strings.Repeat("b", 20)
	ref := o.create("asked")
	ask := func(plan, who string) error {
		return o.AskForSync(t.Context(), wire.SyncInput{Addon: ref, Plan: plan, Who: who})
	}
	if err := ask("", "alice"); !errors.Is(err, outcome.ErrPermanent) {
		t.Errorf("where nothing waits: %v", err)
	}
	o.publish(wire.AddonPublishInput{Addon: ref, Status: wire.AddonStatus{Sequence: 1, Phase: "OutOfSync", PlanHash: planA}})
	if err := ask(planB, "alice"); !errors.Is(err, outcome.ErrPermanent) {
		t.Errorf("for another plan: %v", err)
	}
	for range 2 {
		o.must(ask("", ""))
	}
	c := o.claim(ref)
	if c.Approve != planA {
		t.Errorf("approved: %q", c.Approve)
	}
	if diff := cmp.Diff(wire.Approver{Name: "temporal"}, c.Approver); diff != "" {
		t.Errorf("approver (-want +got):\n%s", diff)
	}
	o.delete(ref)
	if err := ask("", "alice"); !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("of one that is being deleted: %v", err)
	}
	ref.UID = "other"
	if err := ask("", "alice"); !errors.Is(err, outcome.ErrSuperseded) {
		t.Errorf("of another object: %v", err)
	}
}
