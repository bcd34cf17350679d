package providertest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/internal/eventually"
)

func testStopped(t *testing.T, h Harness) {
	if h.Stop == nil {
		t.Fatal("the harness cannot stop an instance")
	}
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	h.create(t, p, req)
	h.Stop(t, req.ID)
	stopped := func(what string, inst provider.Instance) {
		if inst.State != provider.Stopped || inst.Message == "" || inst.Host != "" || inst.Incarnation != req.Incarnation {
			t.Errorf("%s returned %+v, want it Stopped with a message and no address", what, inst)
		}
	}
	eventually.Until(t, "the instance is stopped", func() bool { return get(t, p, req.ID).State == provider.Stopped })
	stopped("get", get(t, p, req.ID))
	again, err := p.Create(t.Context(), req)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	stopped("create", again)
	stopped("list", list(t, p)[req.Owner.UID])
	remove(t, p, req.ID)
}

func testHalted(t *testing.T, h Harness) {
	if lacks(t, h.Halt != nil, "Halt", h.HasNoHalt) {
		return
	}
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	before := h.create(t, p, req)
	h.Halt(t, req.ID)
	p = h.New(Cluster)
	eventually.Until(t, "the instance is halted", func() bool { return get(t, p, req.ID).State == provider.Halted })
	if diff := cmp.Diff(before, h.create(t, p, req)); diff != "" {
		t.Errorf("the started instance (-before +after):\n%s", diff)
	}
}
