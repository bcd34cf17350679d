package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/lease"
)

type acquireRequest struct {
	Selector   map[string]string `json:"selector"`
	TTLSeconds *int64            `json:"ttlSeconds"`
	Target     string            `json:"target"`
}

// lockedProxy is the error of a proxy that cannot be lent, since nobody can read
// what it asks its clients for.
type lockedProxy struct {
	proxy string
	err   error
}

func (e *lockedProxy) Error() string { return "proxy " + e.proxy + " cannot be lent: " + e.err.Error() }

func (e *lockedProxy) Unwrap() error { return e.err }

func (s *server) acquire(w http.ResponseWriter, r *http.Request) {
	l, credentials, err := s.acquired(r)
	s.count(outcomeOf(err))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	a := answerOf(l)
	if credentials != nil {
		a.Proxy.Username, a.Proxy.Password = credentials.Username, credentials.Password
	}
	answer(w, r, http.StatusCreated, a)
}

func (s *server) acquired(r *http.Request) (lease.Lease, *secrets.Credentials, error) {
	var body acquireRequest
	err := decode(r, &body)
	if err == nil {
		err = body.validate()
	}
	ttl, ttlErr := s.ttl(body.TTLSeconds, s.DefaultLeaseTTL)
	if err = firstOf(err, ttlErr); err != nil {
		return lease.Lease{}, nil, err
	}
	return s.lend(r.Context(), lease.Request{
		Selector: body.Selector, Target: normal(body.Target), TTL: ttl, Client: callerOf(r).name,
	})
}

// lend passes over proxies that are locked until somebody mends a Secret: one of
// them that comes first must not fail its whole pool.
func (s *server) lend(ctx context.Context, req lease.Request) (lease.Lease, *secrets.Credentials, error) {
	if _, err := s.fleet.refresh(ctx); err != nil {
		return lease.Lease{}, nil, err
	}
	req.Unusable = map[string]bool{}
	var passedOver error
	for {
		l, err := s.Store.Acquire(req)
		if err != nil {
			return lease.Lease{}, nil, errors.Join(err, passedOver)
		}
		p := s.fleet.lent(l)
		if p == nil { // gone since it was picked
			s.Store.Release(l.ID)
			continue
		}
		credentials, err := secrets.ForProxy(ctx, s.Secrets, p)
		if err == nil && current(p, credentials) {
			return l, credentials, nil
		}
		s.Store.Release(l.ID) // a lease that nobody can use must hold no slot
		if err == nil {
			req.Unusable[string(p.UID)] = true
			passedOver = &lockedProxy{l.Proxy.Key, errRotated}
			continue
		}
		passedOver = &lockedProxy{l.Proxy.Key, err}
		if !errors.Is(err, secrets.ErrUnusable) {
			return lease.Lease{}, nil, passedOver
		}
		s.Log.WarnContext(ctx, "passed over", "error", passedOver, "requestID", requestID(ctx))
		// All that share the Secret: a pool that lost it is not tried one by one.
		for _, uid := range s.fleet.sharing(p) {
			req.Unusable[uid] = true
		}
	}
}

// errRotated is a state that ends by itself, unless the Proxy is paused.
var errRotated = errors.New("its Secret was changed, and its instance still asks for the former credentials until it is replaced")

// current says whether the instance of p asks for these credentials. Those of an
// External proxy are its operator's business.
func current(p *crawl.Proxy, c *secrets.Credentials) bool {
	return c == nil || p.Spec.Mode == crawl.ModeExternal || c.Version == p.Status.CredentialsVersion
}

// remedy says what is to be done about a proxy that was passed over.
func remedy(err error) string {
	var locked *lockedProxy
	if !errors.As(err, &locked) {
		return ""
	}
	if errors.Is(locked, errRotated) {
		return "; " + locked.Error()
	}
	return fmt.Sprintf(`; %v; its authSecretRef must name a Secret with the label %s: "true" and the keys %s and %s`,
		locked, crawl.LabelCloudInit, crawl.SecretKeyUsername, crawl.SecretKeyPassword)
}

// outcomeOf is what the metric calls the answer.
func outcomeOf(err error) string {
	var bad *invalid
	var none *lease.ErrNoMatch
	switch {
	case err == nil:
		return "granted"
	case errors.As(err, &bad):
		return "invalid"
	case errors.As(err, &none):
		return "no_match"
	}
	return "unavailable"
}
