package lease

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// List returns the active leases that may is true for, the oldest first.
func (e *Engine) List(_ context.Context, may Holder) ([]Lease, error) {
	if _, err := e.begin(); err != nil {
		return nil, err
	}
	all := e.seenBy(may)
	if err := e.finish(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b seen) int { return a.older(b.record) })
	leases := make([]Lease, len(all))
	for i, l := range all {
		leases[i] = l.lease(l.ttl, l.expiresAt)
	}
	return leases, nil
}

// seen is a record, with what may change when others have their turn.
type seen struct {
	*record

	ttl       time.Duration
	expiresAt time.Time
}

// seenBy are the active leases that may is true for.
func (e *Engine) seenBy(may Holder) []seen {
	n := 0
	for name, c := range e.clients {
		if may(name) {
			n += c.active
		}
	}
	all, begin := make([]seen, 0, n), e.wall(0)
	for _, r := range e.leases {
		if len(all) == n {
			break
		}
		if r.ended == nil && may(r.client) {
			all = append(all, seen{r, r.ttl, begin.Add(r.expires)})
		}
	}
	return all
}

// Facts returns what is known of a proxy.
func (e *Engine) Facts(_ context.Context, uid string) (Facts, error) {
	now, err := e.begin()
	if err != nil {
		return Facts{}, err
	}
	var f Facts
	p := e.fleet.proxies[uid]
	if p == nil {
		err = ErrUnknownProxy
	} else {
		f = Facts{Active: len(p.leases), Bans: p.bansWithin(now)}
		for _, c := range p.cooldowns {
			f.Cooldowns = append(f.Cooldowns, e.tellCooldown(c))
		}
		slices.SortFunc(f.Cooldowns, func(a, b Cooldown) int {
			return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.Target, b.Target))
		})
	}
	if kept := e.finish(); kept != nil {
		return Facts{}, kept
	}
	return f, err
}

// Counts returns the number of active leases by the proxy's UID, of those that have any.
func (e *Engine) Counts(_ context.Context) (map[string]int, error) {
	if _, err := e.begin(); err != nil {
		return nil, err
	}
	counts := make(map[string]int, min(len(e.fleet.proxies), e.active))
	for uid, p := range e.fleet.proxies {
		if n := len(p.leases); n > 0 {
			counts[uid] = n
		}
	}
	return counts, e.finish()
}

// Totals returns how many leases are active and how many requests wait.
func (e *Engine) Totals() (active, waiting int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active, e.queue.waiting
}
