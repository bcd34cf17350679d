package providertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/provider"
)

// faultTests are what happens around calls that fail, land late or find an instance
// that is not well.
func faultTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"a create that is cut off anywhere is made good by the next": testCutCreate,
		"a delete that is cut off anywhere is made good by the next": testCutDelete,
		"a create that lands after a delete is found by a later one": testLateCreate,
		"a stopped instance is told, not started":                    testStopped,
		"a halted instance is started by create":                     testHalted,
		"what is not ours is left alone":                             testNotOurs,
	}
}

// cuts are when a call is cut off, from at once to about when it ends.
var cuts = []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond}

func testCutCreate(t *testing.T, h Harness) {
	req := h.Request(Cluster, "a")
	for _, cut := range cuts {
		ctx, cancel := context.WithTimeout(t.Context(), cut)
		_, err := h.New(Cluster).Create(ctx, req)
		cancel()
		if class := provider.Class(err); err != nil && !errors.Is(class, provider.ErrTransient) {
			t.Errorf("a create that is cut off after %s has class %v: %v", cut, class, err)
		}
		p := h.New(Cluster) // as after a restart of the program
		if inst := h.create(t, p, req); inst.Owner != req.Owner {
			t.Errorf("cut off after %s, the next create returned %+v", cut, inst)
		}
		if l := list(t, p); len(l) != 1 {
			t.Errorf("cut off after %s, there are %d instances: %+v", cut, len(l), l)
		}
		remove(t, p, req.ID)
	}
}

func testCutDelete(t *testing.T, h Harness) {
	req := h.Request(Cluster, "a")
	for _, cut := range cuts {
		p := h.New(Cluster)
		h.create(t, p, req)
		ctx, cancel := context.WithTimeout(t.Context(), cut)
		err := p.Delete(ctx, req.ID)
		cancel()
		if class := provider.Class(err); err != nil && !errors.Is(class, provider.ErrTransient) {
			t.Errorf("a delete that is cut off after %s has class %v: %v", cut, class, err)
		}
		remove(t, h.New(Cluster), req.ID)
		if l := list(t, h.New(Cluster)); len(l) != 0 {
			t.Errorf("cut off after %s, the list still shows %+v", cut, l)
		}
	}
}

// testLateCreate: whichever comes first, the instance is wholly there or gone.
func testLateCreate(t *testing.T, h Harness) {
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
	Eventually(t, "the instance is stopped", func() bool { return get(t, p, req.ID).State == provider.Stopped })
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
	if h.Halt == nil {
		return // a backend whose instances move to another host, such as pods, halts none
	}
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	before := h.create(t, p, req)
	h.Halt(t, req.ID)
	p = h.New(Cluster)
	Eventually(t, "the instance is halted", func() bool { return get(t, p, req.ID).State == provider.Halted })
	if diff := cmp.Diff(before, h.create(t, p, req)); diff != "" {
		t.Errorf("the started instance (-before +after):\n%s", diff)
	}
}

func testNotOurs(t *testing.T, h Harness) {
	if h.Foreign == nil {
		return // nobody but Fairlead puts anything there
	}
	p, req := h.New(Cluster), h.Request(Cluster, "a")
	there := h.Foreign(t, req.ID)
	if _, err := p.Create(t.Context(), req); err == nil {
		t.Error("an instance was made where something else is")
	}
	if err := p.Delete(t.Context(), req.ID); err != nil && !errors.Is(provider.Class(err), provider.ErrPermanent) {
		t.Errorf("delete: %v", err)
	}
	if l, err := p.List(t.Context()); err != nil || len(l.Instances) != 0 {
		t.Errorf("the list shows %+v, %v", l, err)
	}
	if !there() {
		t.Error("what is not ours was touched")
	}
}
