package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// acquire asks for leases in one of all the ways there are.
func (c *crawler) acquire(ctx context.Context) *violation {
	body, key := c.newRequest()
	q := acquisition(body, key)
	var r reply
	if key == "" {
		r = c.send(ctx, q)
	} else {
		r = c.insistOnKey(ctx, q)
	}
	return c.acquired(body, key, r)
}

func acquisition(body acquireBody, key string) request {
	return request{method: http.MethodPost, path: "/v1/leases", body: body, key: key, wait: secondsOf(body.WaitSeconds)}
}

// insistOnKey sends a request until it is answered: the key makes that harmless.
func (c *crawler) insistOnKey(ctx context.Context, q request) reply {
	r := c.insist(ctx, q)
	for r.refused("key_in_use") && linger(ctx, 100*time.Millisecond) == nil { // an attempt of before waits
		sent := r.sent
		r = c.insist(ctx, q)
		r.sent, r.doubtful = sent, true
	}
	return r
}

// newRequest draws a request, and its key if it has one.
func (c *crawler) newRequest() (body acquireBody, key string) {
	body = acquireBody{Selector: map[string]string{attrPool: poolLoad}, TTLSeconds: c.ttl(), Target: c.target(), Priority: c.dice.Below(10)}
	if c.dice.Chance(40) {
		body.Target = ""
	}
	switch n := c.dice.Below(100); {
	case n < 30:
		body.Session = c.anySession()
	case n < 42:
		body.Exclusive = true
	case n < 56:
		body.Count = 2 + c.dice.Below(3)
		if c.dice.Chance(60) {
			body.AtLeast = 1 + c.dice.Below(body.Count)
		}
	default:
		body.Selector[attrRegion] = regions[c.dice.Below(len(regions))]
	}
	if c.dice.Chance(30) {
		body.WaitSeconds = 1 + c.dice.Below(3)
	}
	if c.dice.Chance(65) {
		c.number++
		key = fmt.Sprintf("key-%d", c.number)
	}
	return body, key
}

// ttl is short enough to run out, or long enough to live through a failover.
func (c *crawler) ttl() int {
	if c.dice.Chance(25) {
		return 2 + c.dice.Below(5)
	}
	return 20 + c.dice.Below(20)
}

func (c *crawler) target() string { return targets[c.dice.Below(len(targets))] }

func (c *crawler) anySession() string {
	if len(c.sessions) < sessionSlots {
		c.number++
		return fmt.Sprintf("session-%d", c.number)
	}
	names := make([]string, 0, len(c.sessions))
	for name := range c.sessions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[c.dice.Below(len(names))]
}

// acquired takes in the answer to a request for leases.
func (c *crawler) acquired(body acquireBody, key string, r reply) *violation {
	switch {
	case r.is(http.StatusCreated):
		return c.granted(body, key, r)
	case r.known() && r.status != http.StatusConflict:
		return breaks(broken, "a request for leases %+v was answered with %s", body, r)
	}
	if _, most := body.bounds(); r.doubt() { // it may have been granted, and its session may have moved
		c.limbo = append(c.limbo, limbo{most, r.sent + secondsOf(body.TTLSeconds) + outage})
		delete(c.sessions, body.Session)
	}
	return nil
}

func (c *crawler) granted(body acquireBody, key string, r reply) *violation {
	leases, err := r.leases(body)
	least, most := body.bounds()
	if err != nil || len(leases) < least || len(leases) > most {
		return breaks(broken, "a request for leases %+v was answered with %s", body, r)
	}
	used := usedKey{key: key, body: body}
	for _, l := range leases {
		g := &grant{
			span: r.span, id: l.LeaseID, client: c.name, pair: pair{l.Proxy.Name, body.Target}, exclusive: l.Exclusive, trial: l.Trial,
			until: r.sent + secondsOf(body.TTLSeconds), released: never,
		}
		used.ids = append(used.ids, g.id)
		c.held[g.id] = g
		c.ledger.addGrant(g)
		if v := c.sessionGranted(body, l, r); v != nil {
			return v
		}
	}
	c.count("granted", len(leases))
	if key != "" {
		c.keys = append(c.keys, used)
		c.keys = c.keys[max(0, len(c.keys)-mostKeys):]
	}
	return nil
}

// sessionGranted holds a session to its proxy.
func (c *crawler) sessionGranted(body acquireBody, l leaseAnswer, r reply) *violation {
	if body.Session == "" {
		return nil
	}
	was, known := c.sessions[body.Session]
	c.sessions[body.Session] = l.Proxy.Name
	if !known || was == l.Proxy.Name {
		return nil
	}
	if l.SessionMoved == "cooldown" && c.ledger.rested(pair{was, body.Target}) {
		return nil // proxies of this fleet are never unhealthy, draining or gone
	}
	return breaks(sessionLost, "%s of %s was on %s and is on %s now, for the reason %q: %s", body.Session, c.name, was, l.Proxy.Name, l.SessionMoved, r)
}

// repeat sends a request again whose answer is known.
func (c *crawler) repeat(ctx context.Context) *violation {
	if len(c.keys) == 0 {
		return nil
	}
	k := c.keys[c.dice.Below(len(c.keys))]
	r := c.insist(ctx, acquisition(k.body, k.key))
	if !r.known() {
		return nil
	}
	leases, err := r.leases(k.body)
	var ids []string
	for _, l := range leases {
		ids = append(ids, l.LeaseID)
	}
	switch {
	case err != nil || !r.is(http.StatusCreated):
		return breaks(broken, "%s of %s, which has got %v, was answered with %s", k.key, c.name, k.ids, r)
	case !slices.Equal(ids, k.ids):
		return breaks(grantedTwice, "%s of %s has got %v, and now %v: %s", k.key, c.name, k.ids, ids, r)
	case !r.replayed:
		return breaks(broken, "%s of %s was answered again as if for the first time: %s", k.key, c.name, r)
	}
	c.count("repeated", 1)
	return nil
}
