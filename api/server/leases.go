package server

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"example.com/fairlead/api/lease"
)

type renewRequest struct {
	TTLSeconds *int64 `json:"ttlSeconds"`
}

type reportRequest struct {
	Result            lease.Result `json:"result"`
	Target            string       `json:"target"`
	RetryAfterSeconds *int64       `json:"retryAfterSeconds"`
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
	Session    string      `json:"session,omitempty"`
	Exclusive  bool        `json:"exclusive,omitempty"`
	// Trial: the report on this lease decides whether a ban is over.
	Trial bool `json:"trial,omitempty"`
	// SessionMoved says why the session has another proxy than before.
	SessionMoved string `json:"sessionMoved,omitempty"`
}

type batchAnswer struct {
	Leases []leaseAnswer `json:"leases"`
	Count  int           `json:"count"`
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
	LeaseID       string    `json:"leaseID"`
	ExpiresAt     time.Time `json:"expiresAt"`
	TTLSeconds    int64     `json:"ttlSeconds"`
	ProxyHealthy  bool      `json:"proxyHealthy"`
	ProxyDraining bool      `json:"proxyDraining"`
}

// answer is the i-th lease, as its holder may see it.
func (g granted) answer(i int) leaseAnswer {
	a := answerOf(g.Leases[i])
	a.SessionMoved = g.Moved
	if c := g.credentials[i]; c != nil {
		a.Proxy.Username, a.Proxy.Password = c.Username, c.Password
	}
	return a
}

func answerOf(l lease.Lease) leaseAnswer {
	ref := refOf(l.Proxy)
	address := net.JoinHostPort(l.Proxy.Host, strconv.Itoa(int(l.Proxy.Port)))
	return leaseAnswer{
		LeaseID: l.ID, ExpiresAt: l.ExpiresAt.UTC(), TTLSeconds: int64(l.TTL / time.Second),
		Session: l.Session, Exclusive: l.Exclusive, Trial: l.Trial,
		Proxy: leasedProxy{
			Namespace: ref.Namespace, Name: ref.Name, Scheme: l.Proxy.Scheme, Host: l.Proxy.Host, Port: l.Proxy.Port,
			URL: l.Proxy.Scheme + "://" + address, Attributes: attributesOf(l.Proxy.Attributes),
		},
	}
}

func (s *server) listLeases(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	err := noParameters(r.URL.Query(), "GET "+leasesPath)
	who := callerOf(r)
	var leases []lease.Lease
	if err == nil {
		leases, err = e.List(r.Context(), func(client string) bool { return who.seesAll() || client == who.name })
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	list := leaseList{Leases: make([]leaseView, len(leases)), Count: len(leases)}
	for i, l := range leases {
		list.Leases[i] = leaseView{leaseAnswer: answerOf(l), Client: l.Client, Target: l.Target, GrantedAt: l.GrantedAt.UTC()}
	}
	answer(w, r, http.StatusOK, list)
}

// release answers 204 whatever became of the lease before: whoever releases it wants it
// to be over, and it is. A lease of somebody else is not theirs to know of.
func (s *server) release(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	if err := e.Release(r.Context(), pathPart(r, "id"), callerOf(r).changes); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) renew(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	id := pathPart(r, "id")
	var body renewRequest
	err := decodeIfAny(r, &body)
	ttl, ttlErr := s.ttl(body.TTLSeconds, 0)
	var renewed lease.Renewal
	if err = firstOf(err, ttlErr); err == nil {
		renewed, err = e.Renew(r.Context(), id, callerOf(r).changes, ttl)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	answer(w, r, http.StatusOK, renewAnswer{
		LeaseID: id, ExpiresAt: renewed.Lease.ExpiresAt.UTC(), TTLSeconds: int64(renewed.Lease.TTL / time.Second),
		ProxyHealthy: renewed.Healthy, ProxyDraining: renewed.Draining,
	})
}

func (s *server) report(w http.ResponseWriter, r *http.Request, e *lease.Engine) {
	var body reportRequest
	err := decode(r, &body)
	var seen lease.Report
	if err == nil {
		seen, err = body.report()
	}
	if err == nil {
		err = e.Report(r.Context(), pathPart(r, "id"), callerOf(r).changes, seen)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (b reportRequest) report() (lease.Report, error) {
	target, err := targetOf(b.Target)
	if err = firstOf(b.validate(), err); err != nil {
		return lease.Report{}, err
	}
	r := lease.Report{Result: b.Result, Target: target}
	if b.RetryAfterSeconds != nil {
		r.RetryAfter = time.Duration(*b.RetryAfterSeconds) * time.Second
	}
	return r, nil
}
