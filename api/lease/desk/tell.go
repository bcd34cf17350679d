package desk

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/fairlead/api/lease"
)

const (
	// tellers and tellTimeout bound what is under way while nobody can be told.
	tellers     = 16
	tellTimeout = 5 * time.Second
	// firstRetry and maxRetry are between attempts to tell what could not be told.
	firstRetry = 500 * time.Millisecond
	maxRetry   = 30 * time.Second
)

// noticed tells notices apart: of each, only the newest counts.
type noticed struct {
	uid    string
	banned bool
}

// tell tells what e notices until ctx ends or e stops. What does not arrive is told
// again: nobody else knows of a ban. Nobody waits for it.
func (d *Desk) tell(ctx context.Context, e *lease.Engine) {
	if d.Notify == nil {
		return
	}
	pending, retry, told := map[noticed]lease.Notice{}, firstRetry, ""
	for {
		for _, n := range e.Notices() {
			pending[noticed{n.Proxy.UID, n.Banned}] = n
		}
		d.forgetGone(pending)
		err := d.round(ctx, pending)
		var again <-chan time.Time
		if err == nil {
			retry, told = firstRetry, ""
		} else {
			if err.Error() != told && ctx.Err() == nil {
				told = err.Error()
				d.Log.WarnContext(ctx, "workflows do not know yet what happened to their leases; they are told again", "proxies", len(pending), "error", err)
			}
			again = time.After(retry)
			retry = min(2*retry, maxRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.Done():
			return
		case <-e.Noticed():
		case <-again:
		}
	}
}

// forgetGone bounds pending by the fleet: a proxy that is gone needs no word.
func (d *Desk) forgetGone(pending map[noticed]lease.Notice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k := range pending {
		if _, ok := d.fleet[k.uid]; !ok {
			delete(pending, k)
		}
	}
}

// round tells all of pending, and takes out what was told. It returns the first failure.
func (d *Desk) round(ctx context.Context, pending map[noticed]lease.Notice) error {
	var mu sync.Mutex
	var arrived []noticed
	var round errgroup.Group
	round.SetLimit(tellers)
	for k, n := range pending {
		round.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, tellTimeout)
			defer cancel()
			if err := d.Notify(ctx, n); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			arrived = append(arrived, k)
			return nil
		})
	}
	err := round.Wait()
	for _, k := range arrived {
		delete(pending, k)
	}
	return err
}
