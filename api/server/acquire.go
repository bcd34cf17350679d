package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/fairlead/api/crawl/secrets"
	"example.com/fairlead/api/lease"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
	leasesPath     = "/v1/leases"
)

type acquireRequest struct {
	Selector    map[string]string `json:"selector"`
	TTLSeconds  *int64            `json:"ttlSeconds"`
	Target      string            `json:"target"`
	Exclusive   bool              `json:"exclusive"`
	Session     string            `json:"session"`
	Count       *int              `json:"count"`
	AtLeast     *int              `json:"atLeast"`
	WaitSeconds int               `json:"waitSeconds"`
	Priority    int               `json:"priority"`
}

// granted is what a request got, each lease with what its proxy asks for.
type granted struct {
	lease.Grant

	credentials []*secrets.Credentials
}

func (s *server) acquire(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	start := time.Now()
	req, single, err := s.acquireRequest(r)
	if err != nil {
		s.metrics.count(err)
		s.fail(w, r, err)
		return
	}
	if req.Wait > 0 {
		extendDeadline(w, req.Wait)
	}
	g, err := s.lend(r.Context(), e, req)
	s.metrics.count(err)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.metrics.observe(g.Waited, time.Since(start))
	if g.Repeated {
		w.Header().Set(replayedHeader, "true")
	}
	if single {
		answer(w, r, http.StatusCreated, g.answer(0))
		return
	}
	list := batchAnswer{Leases: make([]leaseAnswer, len(g.Leases)), Count: len(g.Leases)}
	for i := range g.Leases {
		list.Leases[i] = g.answer(i)
	}
	answer(w, r, http.StatusCreated, list)
}

// acquireRequest reads what r asks for; single says whether one lease is, and not a list.
func (s *server) acquireRequest(r *http.Request) (req lease.Request, single bool, err error) {
	var body acquireRequest
	if err := decode(r, &body); err != nil {
		return req, false, err
	}
	if err := body.validate(); err != nil {
		return req, false, err
	}
	if body.Target, err = targetOf(body.Target); err != nil {
		return req, false, err
	}
	ttl, err := s.ttl(body.TTLSeconds, s.DefaultLeaseTTL)
	if err != nil {
		return req, false, err
	}
	who := callerOf(r)
	req = lease.Request{
		Selector: body.Selector, Target: body.Target, TTL: ttl, Client: who.name, Quota: who.quota,
		Exclusive: body.Exclusive, Session: body.Session,
		Wait: time.Duration(body.WaitSeconds) * time.Second, Priority: body.Priority,
	}
	if body.Count != nil {
		req.Count = *body.Count
	}
	if body.AtLeast != nil {
		req.AtLeast = *body.AtLeast
	}
	if req.Key, err = keyOf(r); err == nil && req.Key != "" {
		req.Fingerprint, err = body.fingerprint(ttl)
	}
	return req, body.Count == nil, err
}

// keyOf is the request's Idempotency-Key, empty if it has none.
func keyOf(r *http.Request) (string, error) {
	values := r.Header[keyHeader]
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", badRequest("invalid_key", "%s is given %d times", keyHeader, len(values))
	}
	return values[0], checkKey(values[0])
}

// fingerprint tells b, with its target in one spelling, from every other request, however it
// was written and whether or not it gives what is the default.
func (b acquireRequest) fingerprint(ttl time.Duration) (string, error) {
	seconds := int64(ttl / time.Second)
	b.TTLSeconds = &seconds
	if len(b.Selector) == 0 {
		b.Selector = nil
	}
	canonical, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("fingerprint a request: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return string(sum[:]), nil
}

// lend passes over proxies that are locked until somebody mends a Secret: one of
// them that comes first must not fail its whole pool.
func (s *server) lend(ctx context.Context, e *lease.Engine, req lease.Request) (granted, error) {
	deadline := s.Clock.Now().Add(req.Wait)
	var passedOver *lockedProxy
	for {
		g, err := e.Acquire(ctx, req)
		if err != nil {
			return granted{}, s.explained(err, passedOver, req.Selector)
		}
		credentials, err := s.unlock(ctx, e, g.Leases)
		if err == nil {
			return granted{g, credentials}, nil
		}
		if g.Repeated { // it is its client's, usable or not
			return granted{}, err
		}
		if undone := e.Undo(context.WithoutCancel(ctx), req, g); undone != nil { // it must hold no slot
			return granted{}, undone
		}
		if errors.As(err, &passedOver) && passedOver.passing() {
			return granted{}, err
		}
		req.Wait = max(0, deadline.Sub(s.Clock.Now()))
	}
}

// explained adds to a refusal why proxies are unusable.
func (s *server) explained(err error, passedOver *lockedProxy, selector map[string]string) error {
	var none *lease.NoMatchError
	if !errors.As(err, &none) || none.Unusable == 0 {
		return err
	}
	if passedOver == nil {
		passedOver = s.locked.why(selector)
	}
	return &refusal{none, passedOver}
}

// refusal is a lease that nothing can be lent for, with the reason of one proxy that is
// locked.
type refusal struct {
	*lease.NoMatchError

	locked *lockedProxy
}

// Unwrap makes a refusal what it explains.
func (r *refusal) Unwrap() error { return r.NoMatchError }
