package providertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/api/crawl/secrets"
	"example.com/fairlead/internal/eventually"
)

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

// Call is one that a program may be killed in.
type Call string

// The calls that consist of several steps.
const (
	Create Call = "create"
	Delete Call = "delete"
)

// Make makes the call.
func (c Call) Make(ctx context.Context, p provider.Provider, req provider.Request) error {
	if c == Delete {
		return p.Delete(ctx, req.ID)
	}
	_, err := p.Create(ctx, req)
	return err
}

// guarded asks for an instance with credentials, which some backends keep apart from
// the instance.
func (h Harness) guarded() provider.Request {
	req := h.Request(Cluster, "a")
	req.Credentials = &secrets.Credentials{Username: "crawler", Password: "canary"}
	return req
}

// testKilledCreate: a program that was restarted in the middle of a create makes the
// instance whole.
func testKilledCreate(t *testing.T, h Harness) {
	req := h.guarded()
	h.create(t, h.New(Cluster), req)
	whole := len(h.Left())
	remove(t, h.New(Cluster), req.ID)
	for steps, ended := 0, false; !ended; steps++ {
		ended = h.Kill(t, Create, req, steps)
		p := h.New(Cluster)
		eventually.Until(t, "the next create succeeds", func() bool { // what the program left may be coming up just then
			_, err := p.Create(t.Context(), req)
			if err != nil && !errors.Is(provider.Class(err), provider.ErrTransient) {
				t.Fatalf("killed after %d steps, the next create has class %v: %v", steps, provider.Class(err), err)
			}
			return err == nil
		})
		if inst := h.create(t, p, req); inst.Owner != req.Owner {
			t.Errorf("killed after %d steps, the next create returned %+v", steps, inst)
		}
		if l := list(t, p); len(l) != 1 {
			t.Errorf("killed after %d steps, there are %d instances: %+v", steps, len(l), l)
		}
		eventually.Until(t, fmt.Sprintf("killed after %d steps and made good, there is as much as after a create", steps), func() bool {
			return len(h.Left()) == whole
		})
		remove(t, p, req.ID)
		h.clean(t, steps)
	}
}

func testKilledCreateDeleted(t *testing.T, h Harness) {
	req := h.guarded()
	for steps, ended := 0, false; !ended; steps++ {
		ended = h.Kill(t, Create, req, steps)
		remove(t, h.New(Cluster), req.ID)
		h.clean(t, steps)
	}
}

func testKilledDelete(t *testing.T, h Harness) {
	req := h.guarded()
	for steps, ended := 0, false; !ended; steps++ {
		h.create(t, h.New(Cluster), req)
		ended = h.Kill(t, Delete, req, steps)
		remove(t, h.New(Cluster), req.ID)
		h.clean(t, steps)
	}
}

// clean waits until the backend holds nothing of a deleted instance.
func (h Harness) clean(t *testing.T, steps int) {
	t.Helper()
	eventually.Until(t, fmt.Sprintf("killed after %d steps and deleted, nothing is left", steps), func() bool { return len(h.Left()) == 0 })
}
