package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

func draining(p *crawl.Proxy) { p.Status.Phase = crawl.PhaseDraining }

func TestADrainingProxyIsNotLent(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	id := w.lease(`{}`)
	w.edit("demo", draining)
	if r := w.do(http.MethodPost, "/v1/leases", `{}`); r.code != http.StatusConflict || r.field(t, "unhealthy") != 1.0 {
		t.Errorf("acquire: %d %s", r.code, r.text)
	}
	view := w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").object(t)
	if view["lendable"] != false || view["phase"] != "Draining" || view["activeLeases"] != 1.0 {
		t.Errorf("proxy: %v", view)
	}
	if r := w.do(http.MethodPost, "/v1/leases/"+id+"/renew", ""); r.code != http.StatusOK {
		t.Errorf("its lease does not go on: %d %s", r.code, r.text)
	}
}

// told is a Temporal that notes which workflows were told. It may fail first.
type told struct {
	mu   sync.Mutex
	refs []wire.ProxyRef
	fail error
	// block, if set, keeps everybody waiting until it is closed.
	block chan struct{}
}

func (d *told) Lease(ctx context.Context, ref wire.ProxyRef) error {
	if d.block != nil {
		select {
		case <-d.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fail; err != nil {
		d.fail = nil
		return err
	}
	d.refs = append(d.refs, ref)
	return nil
}

func (d *told) names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := []string{}
	for _, r := range d.refs {
		names = append(names, r.String()+"/"+r.UID)
	}
	return names
}

// tell runs TellDrained until the test ends.
func (w *world) tell(d *told) {
	w.t.Helper()
	w.options.Drained = d
	w.build()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.handler.TellDrained(ctx) }()
	w.t.Cleanup(func() { cancel(); <-ended })
}

// comes waits until the names that were told are want.
func (d *told) comes(t *testing.T, want ...string) {
	t.Helper()
	eventually.Sees(t, fmt.Sprintf("%d are told", len(want)), time.Minute, func() (bool, string) {
		names := d.names()
		return len(names) >= len(want), fmt.Sprint(names)
	})
	if diff := cmp.Diff(want, d.names()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestTheLastLeaseOfADrainingProxyIsTold(t *testing.T) {
	release := func(w *world, id string) { w.do(http.MethodDelete, "/v1/leases/"+id, "") }
	t.Run("when it is given back", func(t *testing.T) {
		w, d := newWorld(t, proxy("demo"), proxy("other")), &told{}
		w.tell(d)
		ids := []string{w.lease(`{}`), w.lease(`{}`), w.lease(`{}`), w.lease(`{}`)} // two of each
		w.edit("demo", draining)                                                    // no request tells the api
		for _, id := range ids {
			release(w, id)
		}
		d.comes(t, "crawl/demo/uid-demo")
	})
	t.Run("when it runs out, without any request", func(t *testing.T) {
		w, d := newWorld(t, proxy("demo")), &told{}
		w.tell(d)
		w.lease(`{"ttlSeconds": 60}`)
		w.edit("demo", draining)
		w.pass(time.Minute)
		d.comes(t, "crawl/demo/uid-demo")
	})
	t.Run("Temporal is away, then back", func(t *testing.T) {
		w, d := newWorld(t, proxy("first"), proxy("second")), &told{fail: errors.New("Temporal is away")}
		w.tell(d)
		ids := []string{w.lease(`{}`), w.lease(`{}`)}
		w.edit("first", draining)
		w.edit("second", draining)
		release(w, ids[0])
		eventually.Until(t, "the failure is logged", func() bool { return w.logs("Temporal is away") })
		release(w, ids[1])
		d.comes(t, "crawl/second/uid-second")
	})
	t.Run("nobody waits for Temporal", func(t *testing.T) {
		w, d := newWorld(t, proxy("demo")), &told{block: make(chan struct{})}
		w.tell(d)
		id := w.lease(`{}`)
		w.edit("demo", draining)
		release(w, id)
		if r := w.do(http.MethodGet, "/v1/proxies/crawl/demo", ""); r.field(t, "activeLeases") != 0.0 {
			t.Errorf("%d %s", r.code, r.text)
		}
		close(d.block)
		d.comes(t, "crawl/demo/uid-demo")
	})
}
