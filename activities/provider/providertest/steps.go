package providertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/internal/eventually"
)

func (h Harness) create(t *testing.T, p provider.Provider, req provider.Request) provider.Instance {
	t.Helper()
	if err := p.Prepare(t.Context(), req); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	inst, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if h.Settle != nil {
		h.Settle(t, req.ID)
	}
	eventually.Until(t, "the instance runs", func() bool {
		inst = get(t, p, req.ID)
		return inst.State == provider.Running
	})
	return inst
}

// testOverdueCreate: after its deadline nobody counts on a create any more. What it makes
// then would be in no ledger.
func testOverdueCreate(t *testing.T, h Harness) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Millisecond))
	defer cancel()
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	if inst, err := p.Create(ctx, req); err == nil {
		t.Errorf("a create after its deadline returned %+v", inst)
	}
	if l := list(t, p); len(l) > 0 {
		t.Errorf("it left %+v", l)
	}
}

func get(t *testing.T, p provider.Provider, id provider.ID) provider.Instance {
	t.Helper()
	inst, err := p.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return inst
}

// remove deletes an instance and waits until it is gone.
func remove(t *testing.T, p provider.Provider, id provider.ID) {
	t.Helper()
	eventually.Until(t, "the instance is gone", func() bool {
		if err := p.Delete(t.Context(), id); err != nil {
			t.Fatalf("delete: %v", err)
		}
		_, err := p.Get(t.Context(), id)
		if err != nil && !errors.Is(err, provider.ErrNotFound) {
			t.Fatalf("get of a deleted instance: %v", err)
		}
		return err != nil
	})
}

func list(t *testing.T, p provider.Provider) map[string]provider.Instance {
	t.Helper()
	l, err := p.List(t.Context())
	if err != nil || len(l.Incomplete) > 0 {
		t.Fatalf("list: %v, incomplete: %v", err, l.Incomplete)
	}
	byUID := map[string]provider.Instance{}
	for _, inst := range l.Instances {
		byUID[inst.Owner.UID] = inst
	}
	if len(byUID) != len(l.Instances) {
		t.Errorf("the list shows an instance twice: %+v", l.Instances)
	}
	return byUID
}

// lacks says whether a scenario is none for this backend, for a reason that the
// harness gives.
func lacks(t *testing.T, set bool, field, reason string) bool {
	t.Helper()
	switch {
	case set:
		return false
	case reason == "":
		t.Fatalf("the harness must have %s, or say in HasNo%s why its backend cannot", field, field)
	}
	t.Logf("no %s: %s", field, reason)
	return true
}
