package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// longestWait is what the API lets one request wait; longer waits are made of several.
	longestWait = 60 * time.Second
	// waitGrace is how late the answer to a waiting request may come.
	waitGrace = 10 * time.Second
	// settle is how long a request is not cut: what is free is granted by then, and has to
	// be given back if nobody wants it any more. Later it waits, and the API sees it go.
	settle = time.Second
	// giveBackLimit bounds giving back what nobody wants any more.
	giveBackLimit = 3 * time.Second
	// leastTurn is between two requests of one wait, should the API not wait.
	leastTurn = time.Second
)

// Request asks for a lease. The zero value asks for any proxy, at once.
type Request struct {
	// Selector names attributes that the proxy must have.
	Selector map[string]string
	// Target is the host to be fetched from; cooldowns and budgets are kept for each.
	Target string
	// TTL is how long the lease lasts unless it is renewed; 0 is the API's default. Parts of
	// a second count as a whole one, here and in Wait.
	TTL time.Duration
	// Exclusive leases share their proxy with no other.
	Exclusive bool
	// Session, if set, gets the same proxy as the last time it was named.
	Session string
	// Wait is how long to wait for a proxy to become free. A request that had to be sent
	// again waits anew.
	Wait time.Duration
	// Priority goes first among those who wait: 0 to 9.
	Priority int
	// IdempotencyKey gets the same lease whenever the same request is made with it, also by
	// another process. Without one, repeating is safe within one call of Acquire.
	IdempotencyKey string
}

// wireRequest is a Request as the API takes it.
type wireRequest struct {
	Selector    map[string]string `json:"selector,omitempty"`
	Target      string            `json:"target,omitempty"`
	TTLSeconds  int64             `json:"ttlSeconds,omitempty"`
	Exclusive   bool              `json:"exclusive,omitempty"`
	Session     string            `json:"session,omitempty"`
	WaitSeconds int64             `json:"waitSeconds,omitempty"`
	Priority    int               `json:"priority,omitempty"`
	Count       int               `json:"count,omitempty"`
	AtLeast     int               `json:"atLeast,omitempty"`
}

// Acquire leases a proxy. The lease renews itself until it is closed, or its Done says that
// it is over. Without a proxy to lend, the error is a *NoMatch.
func (c *Client) Acquire(ctx context.Context, r Request) (*Lease, error) {
	leases, err := c.acquire(ctx, r, r.wire())
	if err != nil {
		return nil, fmt.Errorf("acquire a lease: %w", err)
	}
	return leases[0], nil
}

// AcquireMany leases count proxies, or at least atLeast of them; 0 is all of them. It gets
// none rather than fewer.
func (c *Client) AcquireMany(ctx context.Context, r Request, count, atLeast int) ([]*Lease, error) {
	body := r.wire()
	body.Count, body.AtLeast = count, atLeast
	if count < 1 {
		return nil, fmt.Errorf("acquire %d leases: at least one must be asked for", count)
	}
	leases, err := c.acquire(ctx, r, body)
	if err != nil {
		return nil, fmt.Errorf("acquire %d leases: %w", count, err)
	}
	return leases, nil
}

// wire is r with the part of its wait that one request takes. The parts are equal, since a
// key goes with one body only.
func (r Request) wire() wireRequest {
	parts := max(1, (r.Wait+longestWait-1)/longestWait)
	return wireRequest{
		Selector: r.Selector, Target: r.Target, TTLSeconds: seconds(r.TTL), Exclusive: r.Exclusive,
		Session: r.Session, WaitSeconds: seconds(r.Wait / parts), Priority: r.Priority,
	}
}

func (c *Client) acquire(ctx context.Context, r Request, body wireRequest) ([]*Lease, error) {
	answered, err := c.ask(ctx, r, body)
	if err != nil {
		return nil, err
	}
	grants, err := grantsOf(answered, body.Count > 0)
	if err != nil {
		return nil, err
	}
	leases := make([]*Lease, len(grants))
	for i, g := range grants {
		leases[i] = newLease(c, g, r.Target, answered.sent)
	}
	if err := c.confirm(ctx, leases, answered); err != nil {
		return nil, errors.Join(err, giveBack(ctx, leases))
	}
	for _, l := range leases {
		go l.keep()
	}
	return leases, nil
}

// ask asks until there is an answer or the wait is over.
func (c *Client) ask(ctx context.Context, r Request, body wireRequest) (*reply, error) {
	wait := time.Duration(body.WaitSeconds) * time.Second
	k := call{method: http.MethodPost, path: "/v1/leases", body: body, key: r.IdempotencyKey, limit: wait + waitGrace, settle: settle}
	if k.key == "" {
		k.key = rand.Text()
	}
	until := time.Now().Add(r.Wait)
	for {
		turn := time.Now()
		answered, err := c.do(ctx, k)
		if err == nil {
			return answered, nil
		}
		pause, again := untilNext(err, turn, until, wait)
		if !again {
			return nil, err
		}
		if sleep(ctx, pause) != nil {
			return nil, fmt.Errorf("%w; last: %w", context.Cause(ctx), err)
		}
	}
}

// untilNext says when to ask again, if the wait has room for it. A remainder that is only
// the imprecision of the turns before has not.
func untilNext(err error, turn, until time.Time, wait time.Duration) (time.Duration, bool) {
	var none *NoMatch
	var refusal *Error
	switch left := time.Until(until); {
	case left < max(leastTurn, wait/10):
		return 0, false
	case errors.As(err, &none):
		return max(0, leastTurn-time.Since(turn)), true
	case errors.Is(err, ErrBudget) && errors.As(err, &refusal):
		pause := max(refusal.RetryAfter, leastTurn)
		return pause, pause < left
	}
	return 0, false
}

func grantsOf(r *reply, many bool) ([]Grant, error) {
	var several struct {
		Leases []Grant `json:"leases"`
	}
	var one Grant
	into := any(&one)
	if many {
		into = &several
	}
	if err := r.into(into); err != nil {
		return nil, err
	}
	grants := several.Leases
	if !many {
		grants = []Grant{one}
	}
	for _, g := range grants {
		if g.LeaseID == "" || g.TTLSeconds < 1 {
			return nil, errors.New("the answer of the API has no lease: what answers is no API of Fairlead")
		}
	}
	if len(grants) == 0 {
		return nil, errors.New("the API granted no lease and refused none")
	}
	return grants, nil
}

// confirm makes sure of when the leases end. One that was waited for, or was granted to an
// earlier request with the same key, began nobody knows when: it is renewed at once.
func (c *Client) confirm(ctx context.Context, leases []*Lease, answered *reply) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	replayed := answered.header.Get("Idempotency-Replayed") == "true"
	for _, l := range leases {
		if !replayed && time.Since(answered.sent) < l.grant.ttl()/renewalsPerTTL {
			continue
		}
		if _, err := l.Renew(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// giveBack releases what nobody will use.
func giveBack(ctx context.Context, leases []*Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackLimit)
	defer cancel()
	var errs []error
	for _, l := range leases {
		l.end(ErrReleased)
		errs = append(errs, l.client.Release(ctx, l.grant.LeaseID))
	}
	return errors.Join(errs...)
}
