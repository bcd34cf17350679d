package providertest

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

func testGetUnknown(t *testing.T, h Harness) {
	p, id := h.New(Cluster), h.Request(Cluster, "a").ID
	if _, err := p.Get(t.Context(), id); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if err := p.Delete(t.Context(), id); err != nil {
		t.Errorf("delete: %v", err)
	}
}

func testDelete(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	h.create(t, p, req)
	remove(t, p, req.ID)
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Errorf("delete again: %v", err)
	}
	if l := list(t, p); len(l) != 0 {
		t.Errorf("the list still shows %+v", l)
	}
}

// testLateCreate: that an instance was not found proves nothing about an attempt to
// create it that is still under way.
func testLateCreate(t *testing.T, h Harness) {
	req, late := h.Request(Cluster, "a"), h.New(Cluster)
	p := h.New(Cluster)
	if err := p.Delete(t.Context(), req.ID); err != nil {
		t.Fatalf("delete: %v", err)
	}
	for range 2 {
		if _, err := p.Get(t.Context(), req.ID); !errors.Is(err, provider.ErrNotFound) {
			t.Fatalf("get before the create lands: %v", err)
		}
	}
	landed := h.create(t, late, req)
	if diff := cmp.Diff(landed, get(t, p, req.ID)); diff != "" {
		t.Errorf("get after the create landed (-created +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]provider.Instance{req.Owner.UID: landed}, list(t, p)); diff != "" {
		t.Errorf("list after the create landed (-want +got):\n%s", diff)
	}
	remove(t, p, req.ID)
	if l := list(t, p); len(l) != 0 {
		t.Errorf("after the last delete the list shows %+v", l)
	}
}

// testCreateBesideDelete: whichever comes first, the instance is wholly there or gone.
func testCreateBesideDelete(t *testing.T, h Harness) {
	req := h.Request(Cluster, "a")
	for range 5 {
		creator, deleter := h.New(Cluster), h.New(Cluster)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = creator.Create(t.Context(), req) }) // the reply is lost
		wg.Go(func() { _ = deleter.Delete(t.Context(), req.ID) })
		wg.Wait()
		remove(t, h.New(Cluster), req.ID)
		if l := list(t, h.New(Cluster)); len(l) != 0 {
			t.Fatalf("after the last delete the list shows %+v", l)
		}
	}
}
