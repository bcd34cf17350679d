package server

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"example.com/fairlead/api/lease"
)

type renewRequest struct {
	TTLSeconds *int64 `json:"ttlSeconds"`
}

type reportRequest struct {
	Result lease.Result `json:"result"`
	Target string       `json:"target"`
}

// leasedProxy is what a client needs to connect. URL has no credentials, so that
// it can be logged.
type leasedProxy struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Scheme     string            `json:"scheme"`
	Host       string            `json:"host"`
	Port       int32             `json:"port"`
	URL        string            `json:"url"`
	Attributes map[string]string `json:"attributes"`
	Username   string            `json:"username,omitempty"`
	Password   string            `json:"password,omitempty"` // #nosec G117 -- the one answer that carries it
}

type leaseAnswer struct {
	LeaseID    string      `json:"leaseID"`
	Proxy      leasedProxy `json:"proxy"`
	ExpiresAt  time.Time   `json:"expiresAt"`
	TTLSeconds int64       `json:"ttlSeconds"`
}

type leaseView struct {
	leaseAnswer

	Client    string    `json:"client"`
	Target    string    `json:"target,omitempty"`
	GrantedAt time.Time `json:"grantedAt"`
}

type leaseList struct {
	Leases []leaseView `json:"leases"`
	Count  int         `json:"count"`
}

type renewAnswer struct {
	LeaseID      string    `json:"leaseID"`
	ExpiresAt    time.Time `json:"expiresAt"`
	TTLSeconds   int64     `json:"ttlSeconds"`
	ProxyHealthy bool      `json:"proxyHealthy"`
}

func answerOf(l lease.Lease) leaseAnswer {
	ref := refOf(l.Proxy)
	u := url.URL{Scheme: l.Proxy.Scheme, Host: net.JoinHostPort(l.Proxy.Host, strconv.Itoa(int(l.Proxy.Port)))}
	return leaseAnswer{
		LeaseID: l.ID, ExpiresAt: l.ExpiresAt.UTC(), TTLSeconds: int64(l.TTL / time.Second),
		Proxy: leasedProxy{
			Namespace: ref.Namespace, Name: ref.Name, Scheme: l.Proxy.Scheme, Host: l.Proxy.Host, Port: l.Proxy.Port,
			URL: u.String(), Attributes: attributesOf(l.Proxy.Attributes),
		},
	}
}

func (s *server) listLeases(w http.ResponseWriter, r *http.Request) {
	err := noParameters(r.URL.Query(), "GET /v1/leases")
	if err == nil {
		_, err = s.fleet.refresh(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	who := callerOf(r)
	list := leaseList{Leases: []leaseView{}}
	for _, l := range s.Store.List() {
		if who.seesAll() || l.Client == who.name {
			list.Leases = append(list.Leases, leaseView{
				leaseAnswer: answerOf(l), Client: l.Client, Target: l.Target, GrantedAt: l.GrantedAt.UTC(),
			})
		}
	}
	list.Count = len(list.Leases)
	answer(w, r, http.StatusOK, list)
}

// release always answers 204: whoever releases a lease wants it to be over, and it
// is. A lease of somebody else is not theirs to know of.
func (s *server) release(w http.ResponseWriter, r *http.Request) {
	id := pathPart(r, "id")
	if l, err := s.Store.Lookup(id); err == nil && callerOf(r).changes(l.Client) {
		s.Store.Release(id)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) renew(w http.ResponseWriter, r *http.Request) {
	var body renewRequest
	err := decodeIfAny(r, &body)
	ttl, ttlErr := s.ttl(body.TTLSeconds, 0)
	err = firstOf(err, ttlErr)
	if err == nil {
		err = s.own(r)
	}
	if err == nil {
		_, err = s.fleet.refresh(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l, healthy, err := s.Store.Renew(pathPart(r, "id"), ttl)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, r, http.StatusOK, renewAnswer{
		LeaseID: l.ID, ExpiresAt: l.ExpiresAt.UTC(), TTLSeconds: int64(l.TTL / time.Second), ProxyHealthy: healthy,
	})
}

func (s *server) report(w http.ResponseWriter, r *http.Request) {
	var body reportRequest
	err := decode(r, &body)
	if err == nil {
		err = body.validate()
	}
	if err == nil {
		err = s.own(r)
	}
	if err == nil {
		err = s.Store.Report(pathPart(r, "id"), body.Result, normal(body.Target))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// own says whether the lease is the caller's to change. One of somebody else looks
// like one that does not exist.
func (s *server) own(r *http.Request) error {
	l, err := s.Store.Lookup(pathPart(r, "id"))
	if err == nil && !callerOf(r).changes(l.Client) {
		return lease.ErrUnknown
	}
	return err
}

// fail answers with what err is to the client; what is none of its business is
// logged.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var bad *invalid
	var none *lease.ErrNoMatch
	var locked *lockedProxy
	switch {
	case errors.As(err, &bad):
		refuse(w, r, bad.code, bad.word, bad.message)
	case errors.As(err, &none):
		answer(w, r, http.StatusConflict, noMatch{
			problem:    problem{"no_match", none.Error() + ": try again later or ask for less" + remedy(err), requestID(r.Context())},
			Considered: none.Considered, AtCapacity: none.AtCapacity, InCooldown: none.InCooldown,
			Unhealthy: none.Unhealthy, Unusable: none.Unusable,
		})
	case errors.As(err, &locked):
		s.Log.ErrorContext(r.Context(), "request failed", "error", err, "requestID", requestID(r.Context()))
		refuse(w, r, http.StatusServiceUnavailable, "credentials_unavailable",
			"the credentials of proxy "+locked.proxy+" cannot be read now: try again later; the log of the API tells more under this request id")
	case errors.Is(err, lease.ErrUnknown):
		refuse(w, r, http.StatusNotFound, "unknown_lease", "there is no such lease: it was released, or ended long ago; acquire another one")
	case errors.Is(err, lease.ErrExpired):
		refuse(w, r, http.StatusGone, "lease_expired", "the lease ran out before it was renewed: acquire another one, and renew it earlier")
	case errors.Is(err, lease.ErrProxyGone):
		refuse(w, r, http.StatusGone, "proxy_gone", "the proxy was deleted or has another address now: acquire another lease")
	default:
		s.Log.ErrorContext(r.Context(), "request failed", "error", err, "requestID", requestID(r.Context()))
		refuse(w, r, http.StatusServiceUnavailable, "unavailable", "the proxies cannot be reached now: try again later; the log of the API tells more under this request id")
	}
}
