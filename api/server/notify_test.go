package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease/desk/desktest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// draining is what a workflow writes of a proxy that drains.
func draining(p *crawl.Proxy) {
	p.Status.Phase = crawl.PhaseDraining
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == crawl.ConditionReady {
			p.Status.Conditions[i].Status, p.Status.Conditions[i].Reason = metav1.ConditionFalse, "Draining"
		}
	}
}

func TestADrainingProxyIsNotLent(t *testing.T) {
	w := newWorld(t, proxy("demo"))
	id := w.lease(`{}`)
	w.edit("demo", draining)
	if r := w.do(http.MethodPost, "/v1/leases", `{}`); r.code != http.StatusConflict || r.field(t, "draining") != 1.0 {
		t.Errorf("acquire: %d %s", r.code, r.text)
	}
	view := w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").object(t)
	if view["lendable"] != false || view["phase"] != "Draining" || view["activeLeases"] != 1.0 {
		t.Errorf("proxy: %v", view)
	}
	if r := w.do(http.MethodPost, "/v1/leases/"+id+"/renew", ""); r.code != http.StatusOK || r.field(t, "proxyDraining") != true || r.field(t, "proxyHealthy") != true {
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

// telling is a world whose workflows are d.
func telling(t *testing.T, d *told, objects ...client.Object) *world {
	t.Helper()
	w := newIdleWorld(t, objects...)
	w.options.Workflows = d
	w.build()
	desktest.Run(t, w.options.Desk)
	return w
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

func TestAProxyThatIsBannedTooOftenIsTold(t *testing.T) {
	d := &told{}
	w := telling(t, d, proxy("demo", func(p *crawl.Proxy) {
		p.Spec.Replacement = &crawl.Replacement{Bans: &crawl.BanLimit{Count: 2}}
	}))
	ban := func(target string) {
		id := w.lease(`{"target":"` + target + `"}`)
		w.do(http.MethodPost, "/v1/leases/"+id+"/report", `{"result":"banned"}`)
		w.do(http.MethodDelete, "/v1/leases/"+id, "")
	}
	bans := func(want float64) {
		t.Helper()
		if got := w.do(http.MethodGet, "/v1/proxies/crawl/demo", "").field(t, "bans"); got != want {
			t.Errorf("%v bans, want %v", got, want)
		}
	}
	ban("a.example")
	w.pass(10*time.Minute + time.Second)
	bans(0) // it was too long ago to count
	ban("b.example")
	bans(1)
	if names := d.names(); len(names) > 0 {
		t.Errorf("told too early: %v", names)
	}
	ban("c.example")
	bans(2)
	d.comes(t, "crawl/demo/uid-demo")
}

func TestTheLastLeaseOfADrainingProxyIsTold(t *testing.T) {
	release := func(w *world, id string) { w.do(http.MethodDelete, "/v1/leases/"+id, "") }
	t.Run("when it is given back", func(t *testing.T) {
		d := &told{}
		w := telling(t, d, proxy("demo"), proxy("other"))
		ids := []string{w.lease(`{}`), w.lease(`{}`), w.lease(`{}`), w.lease(`{}`)} // two of each
		w.edit("demo", draining)
		for _, id := range ids {
			release(w, id)
		}
		d.comes(t, "crawl/demo/uid-demo")
	})
	t.Run("when it runs out, without any request", func(t *testing.T) {
		d := &told{}
		w := telling(t, d, proxy("demo"))
		w.lease(`{"ttlSeconds": 60}`)
		w.edit("demo", draining)
		w.pass(time.Minute)
		d.comes(t, "crawl/demo/uid-demo")
	})
	t.Run("Temporal is away, then back", func(t *testing.T) {
		d := &told{fail: errors.New("Temporal is away")}
		w := telling(t, d, proxy("first"), proxy("second"))
		ids := []string{w.lease(`{}`), w.lease(`{}`)}
		w.edit("first", draining)
		w.edit("second", draining)
		release(w, ids[0])
		eventually.Until(t, "the failure is logged", func() bool { return w.logs("Temporal is away") })
		release(w, ids[1])
		eventually.Until(t, "both are told", func() bool { return len(d.names()) == 2 })
		if diff := cmp.Diff([]string{"crawl/first/uid-first", "crawl/second/uid-second"}, slices.Sorted(slices.Values(d.names()))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("unless it drains no more", func(t *testing.T) {
		d := &told{fail: errors.New("Temporal is away")}
		w := telling(t, d, proxy("demo"), proxy("other"))
		ids := []string{w.lease(`{}`), w.lease(`{}`)}
		w.edit("demo", draining)
		release(w, ids[0])
		eventually.Until(t, "the failure is logged", func() bool { return w.logs("Temporal is away") })
		w.edit("demo", func(p *crawl.Proxy) { p.Status.Phase = crawl.PhaseReady })
		w.edit("other", draining)
		release(w, ids[1])
		d.comes(t, "crawl/other/uid-other")
	})
	t.Run("nobody waits for Temporal", func(t *testing.T) {
		d := &told{block: make(chan struct{})}
		w := telling(t, d, proxy("demo"))
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
