package object_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"example.com/fairlead/activities/object"
	"example.com/fairlead/temporal/wire"
)

// TestAProxyThatFlapsIsStillSeenToBeDeleted: only so many Events of one reason are
// written, and those of the others all the same.
func TestAProxyThatFlapsIsStillSeenToBeDeleted(t *testing.T) {
	a, ns := newActivities(t)
	a.Events = object.NewRecorder(a.Client, slog.New(slog.DiscardHandler))
	p := managed(ns, "flapping")
	ref := create(t, a, p)
	if _, err := a.Claim(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	verdicts := []wire.Condition{
		{Type: wire.ConditionHealthy, Status: wire.True, Reason: wire.ReasonHealthy, Since: since},
		{Type: wire.ConditionHealthy, Status: wire.False, Reason: "Dead", Since: since},
	}
	for i := range 60 {
		s := wire.ProxyStatus{Sequence: int64(i) + 1, Phase: wire.PhaseUnhealthy, Conditions: []wire.Condition{verdicts[i%2]}}
		if err := a.Publish(t.Context(), wire.PublishInput{Proxy: ref, Status: s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Client.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := a.Release(t.Context(), wire.ReleaseInput{ProxyRef: ref}); err != nil {
		t.Fatal(err)
	}
	told := listen(t, a, ns)
	if !slices.ContainsFunc(told, func(h heard) bool { return h.Reason == "Deleted" }) {
		t.Errorf("the deletion is not told: %+v", told)
	}
}
