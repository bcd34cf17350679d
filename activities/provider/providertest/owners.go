package providertest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

func testDisown(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	inst := h.create(t, p, req)
	for range 2 {
		if err := p.Disown(t.Context(), req.ID); err != nil {
			t.Fatalf("disown: %v", err)
		}
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get of a disowned instance: %v", err)
	}
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete of a disowned instance: %v", err)
	}
	if l, err := p.List(t.Context()); err != nil || len(l.Instances) != 0 {
		t.Errorf("the list shows %+v, %v", l, err)
	}
	if h.Serves != nil && !h.Serves(inst) {
		t.Error("the disowned instance does not run any more")
	}
}

func testForeign(t *testing.T, h Harness) {
	p, other := h.New(Cluster), h.New(OtherCluster)
	req := h.Request(OtherCluster, "theirs")
	theirs := h.create(t, other, req)
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := p.Create(t.Context(), h.Request(Cluster, "theirs")); !errors.Is(err, provider.ErrPermanent) {
		t.Errorf("create over an instance of another cluster: %v", err)
	}
	if diff := cmp.Diff(theirs, get(t, other, req.ID)); diff != "" {
		t.Errorf("their instance changed (-before +after):\n%s", diff)
	}
}

func testNotOurs(t *testing.T, h Harness) {
	if h.Foreign == nil {
		t.Fatal("the harness puts nothing there that is not ours")
	}
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	there := h.Foreign(t, req.ID)
	if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrPermanent) {
		t.Errorf("create where something else is: %v", err)
	}
	if err := p.Delete(t.Context(), req.ID); err != nil && !errors.Is(provider.Class(err), provider.ErrPermanent) {
		t.Errorf("delete: %v", err)
	}
	if err := p.Disown(t.Context(), req.ID); err != nil && !errors.Is(provider.Class(err), provider.ErrPermanent) {
		t.Errorf("disown: %v", err)
	}
	if l := list(t, p); len(l) != 0 {
		t.Errorf("the list shows %+v", l)
	}
	if !there() {
		t.Error("what is not ours was touched")
	}
}
