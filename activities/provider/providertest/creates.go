package providertest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

func testCreate(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	if places, err := p.Places(t.Context(), req.Owner.Namespace, &req.Spec); err != nil || !slices.Contains(places, req.Place) {
		t.Errorf("the places are %q, %v, want %q among them", places, err, req.Place)
	}
	before := time.Now().Add(-time.Minute)
	inst := h.create(t, p, req)
	want := provider.Instance{ID: req.ID, Owner: req.Owner, Incarnation: req.Incarnation, Hash: req.Hash, State: provider.Running}
	// What the backend chooses only has to be there.
	got := inst
	got.ProviderID, got.Message, got.Host, got.Port, got.CreatedAt = "", "", "", 0, time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if inst.ProviderID == "" || inst.Host == "" || inst.Port == 0 || inst.CreatedAt.Before(before) {
		t.Errorf("a running instance lacks something: %+v", inst)
	}
}

func testCreateAgain(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	first := h.create(t, p, req)
	req.Hash, req.Incarnation = "v1:another", 2
	again, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create again: %v", err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

func testRecreate(t *testing.T, h Harness) {
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	h.create(t, p, req)
	remove(t, p, req.ID)
	req.Incarnation, req.Hash = 2, "v1:another"
	if inst := h.create(t, p, req); inst.Incarnation != 2 || inst.Hash != req.Hash {
		t.Errorf("the new instance is %+v", inst)
	}
}

func testRestart(t *testing.T, h Harness) {
	req := h.Request(Cluster, "a")
	first := h.create(t, h.New(Cluster), req)
	restarted := h.New(Cluster)
	if diff := cmp.Diff(first, get(t, restarted, req.ID)); diff != "" {
		t.Errorf("get (-before +after):\n%s", diff)
	}
	again, err := restarted.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("create (-before +after):\n%s", diff)
	}
}

func testConcurrentCreates(t *testing.T, h Harness) {
	const callers = 8
	req := h.Request(Cluster, "a")
	var wg sync.WaitGroup
	for range callers {
		p := h.New(Cluster)
		wg.Go(func() {
			inst, err := p.Create(t.Context(), req)
			if err != nil || inst.Owner != req.Owner {
				t.Errorf("create returned %+v, %v", inst, err)
			}
		})
	}
	wg.Wait()
	if l := list(t, h.New(Cluster)); len(l) != 1 {
		t.Errorf("there are %d instances: %+v", len(l), l)
	}
}

func testBadNames(t *testing.T, h Harness) {
	p := h.New(Cluster)
	for _, id := range []provider.ID{
		{Place: h.Place}, {Place: h.Place, Name: "../escape"}, {Place: h.Place, Name: ".new-x"}, {Place: "../../etc", Name: "a"},
	} {
		req := h.Request(Cluster, "a")
		req.ID = id
		if _, err := p.Create(t.Context(), req); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("create %+v: %v", id, err)
		}
		if _, err := p.Get(t.Context(), id); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("get %+v: %v", id, err)
		}
		if err := p.Delete(t.Context(), id); !errors.Is(err, provider.ErrPermanent) {
			t.Errorf("delete %+v: %v", id, err)
		}
	}
}
