package lease_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/internal/eventually"
)

// TestManyAtOnce lends, waits, goes away, reports and changes the fleet from many sides on
// the real clock, until enough was lent. Meanwhile no client ever holds what another one
// holds too.
func TestManyAtOnce(t *testing.T) {
	const proxies, slots, clients, enough = 8, 2, 24, 2000
	journal := newMemory(nil)
	e, err := lease.Open(t.Context(), journal, lease.Options{Ban: 20 * time.Millisecond, SessionIdle: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	var fleet []lease.Candidate
	for n := range proxies {
		fleet = append(fleet, candidate(fmt.Sprint("p", n), maxLeases(slots), host(fmt.Sprint("10.0.0.", n))))
	}
	e.Sync(fleet)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h := &holders{t: t, slots: slots, held: map[string]int{}, enough: enough, done: cancel}
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 0)) // #nosec G404 -- a test
			for ctx.Err() == nil {
				h.borrow(ctx, e, r, fmt.Sprint("client ", n%6))
			}
		})
	}
	all.Go(func() {
		r := rand.New(rand.NewPCG(77, 0)) // #nosec G404 -- a test
		changes := time.NewTicker(time.Millisecond)
		defer changes.Stop()
		for ctx.Err() == nil {
			<-changes.C
			c := fleet[r.IntN(len(fleet))]
			c.Healthy, c.Draining = r.IntN(4) > 0, r.IntN(8) == 0
			e.Put(c)
			if r.IntN(10) == 0 { // bans in a row grow until nothing is left to be lent
				if err := e.Clear(ctx, c.UID, nil); err != nil {
					t.Errorf("clear: %v", err)
				}
			}
			if wrong := e.Inconsistencies(); len(wrong) > 0 {
				t.Errorf("contradictions: %v", wrong)
				cancel()
			}
		}
	})
	all.Wait()
	if h.granted < enough {
		t.Errorf("only %d leases were granted", h.granted)
	}
	eventually.Until(t, "all that was given up is free", func() bool {
		active, waiting := e.Totals()
		return active == 0 && waiting == 0
	})
}

// holders count who holds what, as the clients know it.
type holders struct {
	t       *testing.T
	slots   int
	enough  int
	done    func() // when enough leases were granted
	mu      sync.Mutex
	held    map[string]int
	granted int
}

func (h *holders) add(leases []lease.Lease, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range leases {
		h.held[l.Proxy.UID] += n
		if many := h.held[l.Proxy.UID]; many > h.slots {
			h.t.Errorf("%s is held %d times", l.Proxy.Key, many)
		}
		if n > 0 {
			h.granted++
		}
	}
	if h.granted >= h.enough {
		h.done()
	}
}

func (h *holders) borrow(ctx context.Context, e *lease.Engine, r *rand.Rand, client string) {
	patience, cancel := context.WithTimeout(ctx, time.Duration(1+r.IntN(20))*time.Millisecond)
	defer cancel()
	req := request(by(client), waiting(time.Duration(r.IntN(30))*time.Millisecond), target([]string{"", "shop"}[r.IntN(2)]), ttl(time.Minute))
	switch r.IntN(5) {
	case 0:
		req.Count, req.AtLeast = 2, r.IntN(3)
	case 1:
		req.Session = fmt.Sprint(r.IntN(3))
	case 2:
		req.Exclusive = true
	}
	g, err := e.Acquire(patience, req)
	var none *lease.NoMatchError
	switch {
	case err == nil:
	case errors.As(err, &none), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return
	default:
		h.t.Errorf("acquire: %v", err)
		return
	}
	h.add(g.Leases, 1)
	for _, l := range g.Leases {
		if r.IntN(10) == 0 {
			if err := e.Report(h.t.Context(), l.ID, anybody, lease.Report{Result: lease.ResultBanned}); err != nil {
				h.t.Errorf("report: %v", err)
			}
		}
		if _, err := e.Renew(h.t.Context(), l.ID, anybody, 0); err != nil {
			h.t.Errorf("renew: %v", err)
		}
	}
	h.add(g.Leases, -1)
	for _, l := range g.Leases {
		if err := e.Release(h.t.Context(), l.ID, anybody); err != nil {
			h.t.Errorf("release: %v", err)
		}
	}
}
