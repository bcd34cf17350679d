package main

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// crawler is a client that leases, and holds the API to what it acknowledged. It does one
// thing at a time, so what its own leases and sessions are is known for certain.
type crawler struct {
	*caller
	*phase

	name string
	dice *dice.Dice

	held map[string]*grant
	// sessions are those whose proxy is known for certain, by name.
	sessions map[string]string
	keys     []usedKey
	// limbo are requests that may have been granted without an answer.
	limbo []limbo
	// gone are the leases that are not held any more, by when their end was acknowledged:
	// never for those that nobody may have ended.
	gone map[string]time.Duration
	// audits has who waits for an audit.
	audits chan *sync.WaitGroup
	// number makes names unique.
	number int
}

// usedKey is an Idempotency-Key with what it got.
type usedKey struct {
	key  string
	body acquireBody
	ids  []string
}

// limbo is a request that may have got so many leases.
type limbo struct {
	leases int
	// until is when they are over in any case.
	until time.Duration
}

const (
	// mostHeld leases, then some are given back.
	mostHeld = 2
	// mostKeys are remembered for being repeated.
	mostKeys = 20
	// sessionSlots are the sessions that a crawler has at a time.
	sessionSlots = 3
	// outage is how much longer a lease may live than by its client's clock: while nobody
	// serves, its time stands still.
	outage = 45 * time.Second
)

func (p *phase) newCrawler(i int) *crawler {
	name := crawlerName(i)
	return &crawler{
		caller: p.newCaller(name), phase: p, name: name, dice: dice.New(p.seed, p.name, name),
		held: map[string]*grant{}, sessions: map[string]string{}, gone: map[string]time.Duration{}, audits: make(chan *sync.WaitGroup, 1),
	}
}

// work leases until ctx ends, and audits whenever it is asked to.
func (c *crawler) work(ctx context.Context) *violation {
	for n := 0; ; n++ {
		select {
		case done := <-c.audits:
			if v := c.audit(ctx); v != nil {
				return v
			}
			done.Done()
		default:
		}
		if linger(ctx, c.dice.Between(2*time.Millisecond, 50*time.Millisecond)) != nil {
			return nil
		}
		c.dropExpired()
		if v := c.act(ctx); v != nil && ctx.Err() == nil {
			return v
		}
	}
}

var acts = []struct {
	weight int
	do     func(*crawler, context.Context) *violation
}{
	{45, (*crawler).acquire}, {6, (*crawler).repeat}, {12, (*crawler).renewOne}, {30, (*crawler).releaseOne}, {7, (*crawler).reportOne},
}

func (c *crawler) act(ctx context.Context) *violation {
	if len(c.held) > mostHeld {
		return c.releaseOne(ctx)
	}
	return acts[c.dice.Side(len(acts), func(i int) int { return acts[i].weight })].do(c, ctx)
}

// dropExpired forgets what may be over by the crawler's own clock.
func (c *crawler) dropExpired() {
	now := c.now()
	for id, g := range c.held {
		if g.until <= now {
			c.drop(id, never)
		}
	}
	c.limbo = slices.DeleteFunc(c.limbo, func(l limbo) bool { return l.until <= now })
}

// drop lets a lease go whose end was acknowledged at a time.
func (c *crawler) drop(id string, acknowledged time.Duration) {
	delete(c.held, id)
	c.gone[id] = acknowledged
}

// anyHeld is nil when nothing is held.
func (c *crawler) anyHeld() *grant {
	if len(c.held) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(c.held))
	return c.held[ids[c.dice.Below(len(ids))]]
}

func (c *crawler) renewOne(ctx context.Context) *violation {
	g := c.anyHeld()
	if g == nil {
		return nil
	}
	return c.renew(g, c.send(ctx, c.renewal(g)))
}

// renewal asks for the time that the lease has, or for another.
func (c *crawler) renewal(g *grant) request {
	var body renewBody
	if c.dice.Chance(50) {
		body.TTLSeconds = c.ttl()
	}
	return request{method: http.MethodPost, path: "/v1/leases/" + g.id + "/renew", body: body}
}

// renew takes in the answer to a renewal.
func (c *crawler) renew(g *grant, r reply) *violation {
	switch {
	case r.is(http.StatusOK):
		var renewed leaseAnswer
		if err := r.decode(&renewed); err != nil || renewed.LeaseID != g.id {
			return breaks(broken, "a renewal of %s was answered with %s", g, r)
		}
		c.ledger.prolong(g, r.sent+secondsOf(renewed.TTLSeconds))
		return nil
	case !r.known():
		return nil
	}
	return c.lost(g, "it cannot be renewed", r)
}

// lost is set when a lease was missing before it was over by the crawler's own clock.
func (c *crawler) lost(g *grant, how string, r reply) *violation {
	c.drop(g.id, never)
	if r.got >= g.until {
		return nil
	}
	return breaks(leaseLost, "%s: %s\n  %s", how, g, r)
}

func (c *crawler) releaseOne(ctx context.Context) *violation {
	g := c.anyHeld()
	if g == nil {
		return nil
	}
	return c.release(ctx, g)
}

func (c *crawler) release(ctx context.Context, g *grant) *violation {
	c.drop(g.id, never)
	c.ledger.release(g)
	r := c.send(ctx, request{method: http.MethodDelete, path: "/v1/leases/" + g.id})
	switch {
	case r.is(http.StatusNoContent):
		c.drop(g.id, r.got)
	case r.known():
		return breaks(broken, "the end of %s was answered with %s", g, r)
	}
	return nil
}

// What a report says, and how long the pair rests after that.
var reports = []struct {
	weight int
	body   reportBody
	lasts  time.Duration
}{
	{60, reportBody{Result: "ok"}, 0},
	{8, reportBody{Result: "rate_limited", RetryAfterSeconds: 1}, time.Second},
	{8, reportBody{Result: "rate_limited", RetryAfterSeconds: 4}, 4 * time.Second},
	{2, reportBody{Result: "rate_limited"}, 30 * time.Second},
	{12, reportBody{Result: "banned"}, firstBan * 8 / 10}, // it is spread by a fifth
}

// firstBan is what the API is told by --cooldown.
const firstBan = 5 * time.Second

func (c *crawler) reportOne(ctx context.Context) *violation {
	g := c.anyHeld()
	if g == nil {
		return nil
	}
	kind := reports[c.dice.Side(len(reports), func(i int) int { return reports[i].weight })]
	body, about := kind.body, g.pair
	if c.dice.Chance(20) {
		body.Target = c.target()
		about.target = body.Target
	}
	noted := &span{}
	switch {
	case body.Result != "ok":
		noted = &c.ledger.addRest(rest{pair: about, lasts: kind.lasts, ban: body.Result == "banned", leased: g.sent}).span
	case g.trial:
		noted = &c.ledger.addPardon(about).span
	}
	r := c.send(ctx, request{method: http.MethodPost, path: "/v1/leases/" + g.id + "/report", body: body})
	switch {
	case r.is(http.StatusNoContent):
		c.ledger.answered(noted, r)
		return nil
	case r.refused("unknown_lease"):
		return c.lost(g, "it cannot be reported on", r)
	case r.known() && !r.refused("too_many_targets"):
		return breaks(broken, "a report on %s was answered with %s", g, r)
	}
	return nil
}
