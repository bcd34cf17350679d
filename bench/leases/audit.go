package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
)

// audit looks whether all that the crawler was promised is there.
func (c *crawler) audit(ctx context.Context) *violation {
	r := c.insist(ctx, request{method: http.MethodGet, path: "/v1/leases"})
	if ctx.Err() != nil {
		return nil
	}
	if v := c.listed(ctx, r); v != nil {
		return v
	}
	for _, id := range slices.Sorted(maps.Keys(c.held)) {
		g := c.held[id]
		if v := c.renew(g, c.insist(ctx, c.renewal(g))); v != nil && ctx.Err() == nil {
			return v
		}
		c.count("audited leases", 1)
	}
	return c.auditSessions(ctx)
}

// listed compares a list of the crawler's leases with what it knows.
func (c *crawler) listed(ctx context.Context, r reply) *violation {
	var all listAnswer
	if err := r.decode(&all); err != nil || !r.is(http.StatusOK) {
		return breaks(broken, "a list of leases was answered with %s", r)
	}
	there := map[string]string{}
	for _, l := range all.Leases {
		there[l.LeaseID] = l.Proxy.Name
	}
	for _, id := range slices.Sorted(maps.Keys(c.held)) {
		g := c.held[id]
		switch proxy, ok := there[id]; {
		case !ok && r.got < g.until:
			return breaks(leaseLost, "it is not listed: %s\n  %s", g, r)
		case ok && proxy != g.pair.proxy:
			return breaks(leaseLost, "it is of %s now: %s\n  %s", proxy, g, r)
		}
	}
	for id := range there {
		if v := c.stranger(ctx, id, r); v != nil {
			return v
		}
	}
	return nil
}

// stranger looks at a listed lease: one that is not held must have been granted by a
// request that nobody answered, and then it is given back.
func (c *crawler) stranger(ctx context.Context, id string, r reply) *violation {
	if c.held[id] != nil {
		return nil
	}
	if at, gone := c.gone[id]; gone {
		if at < r.sent {
			return breaks(broken, "lease %s of %s is there again after its end was acknowledged at %s: %s", id, c.name, seconds(at), r)
		}
		return nil
	}
	i := slices.IndexFunc(c.limbo, func(l limbo) bool { return l.leases > 0 })
	if i < 0 {
		return breaks(grantedTwice, "%s has lease %s of which it was not told, and all its requests were answered: %s", c.name, id, r)
	}
	c.limbo[i].leases--
	c.drop(id, never)
	c.send(ctx, request{method: http.MethodDelete, path: "/v1/leases/" + id}) // if it fails, it runs out
	return nil
}

// auditSessions has each session come back to its proxy.
func (c *crawler) auditSessions(ctx context.Context) *violation {
	for _, name := range slices.Sorted(maps.Keys(c.sessions)) {
		body := acquireBody{Selector: map[string]string{attrPool: poolLoad}, TTLSeconds: c.ttl(), Session: name}
		if v := c.acquired(body, "", c.send(ctx, acquisition(body, ""))); v != nil && ctx.Err() == nil {
			return v
		}
		c.count("audited sessions", 1)
	}
	return nil
}
