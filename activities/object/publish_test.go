package object_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/wire"
)

func TestPublish(t *testing.T) {
	a, ns := newActivities(t)
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	status := func(sequence int64, phase string) wire.ProxyStatus {
		return wire.ProxyStatus{
			Sequence: sequence, Phase: phase, Host: "127.64.0.1", Port: 3128,
			Recreations: []time.Time{since},
			Ledger:      []wire.Entry{{Provider: "known", Place: "zone-a", Name: "proxy-x", Incarnation: 1, AttemptUntil: since}},
			Conditions:  []wire.Condition{{Type: wire.ConditionReady, Status: wire.True, Reason: "Ready", Since: since}},
		}
	}
	ref := create(t, a, managed(ns, "published"))
	publish := func(s wire.ProxyStatus) error {
		return a.Publish(context.WithoutCancel(t.Context()), wire.PublishInput{Proxy: ref, Status: s})
	}
	if err := publish(status(5, wire.PhaseReady)); err != nil {
		t.Fatal(err)
	}
	t.Run("what is published is what is claimed", func(t *testing.T) {
		c, err := a.Claim(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(status(5, wire.PhaseReady), c.Stored); diff != "" {
			t.Errorf("status (-published +claimed):\n%s", diff)
		}
	})
	t.Run("the same status again is stored already", func(t *testing.T) {
		if err := publish(status(5, wire.PhaseReady)); err != nil {
			t.Error(err)
		}
	})
	t.Run("a status that the API server will never take is permanent", func(t *testing.T) {
		if err := publish(status(6, "NoSuchPhase")); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("error = %v, want ErrPermanent", err)
		}
	})
	for name, s := range map[string]wire.ProxyStatus{
		"an older status is superseded":                         status(4, wire.PhaseReady),
		"another status of the same sequence is superseded":     status(5, wire.PhaseFailed),
		"a status of an object that is gone is superseded, too": status(6, wire.PhaseReady),
	} {
		t.Run(name, func(t *testing.T) {
			to := ref
			if s.Sequence == 6 {
				to.UID = "gone"
			}
			err := a.Publish(t.Context(), wire.PublishInput{Proxy: to, Status: s})
			if !errors.Is(err, outcome.ErrSuperseded) {
				t.Errorf("error = %v, want outcome.ErrSuperseded", err)
			}
		})
	}
}
