package lease

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Lookup returns a lease that is active, or can still be reported on.
func (e *Engine) Lookup(_ context.Context, id string) (Lease, error) {
	if _, err := e.begin(); err != nil {
		return Lease{}, err
	}
	var told Lease
	r, err := e.held(id, func(string) bool { return true })
	if err == nil {
		told = e.tell(r)
	}
	if kept := e.finish(); kept != nil {
		return Lease{}, kept
	}
	return told, err
}

// List returns the active leases, the oldest first.
func (e *Engine) List(_ context.Context) ([]Lease, error) {
	if _, err := e.begin(); err != nil {
		return nil, err
	}
	records := make([]*record, 0, e.active)
	for _, r := range e.leases {
		if r.ended == nil {
			records = append(records, r)
		}
	}
	leases := make([]Lease, len(records))
	slices.SortFunc(records, (*record).older)
	for i, r := range records {
		leases[i] = e.tell(r)
	}
	return leases, e.finish()
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
