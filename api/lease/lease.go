// Package lease lends proxies: it picks one for each request, counts what is out
// and keeps cooldowns. It knows neither HTTP nor Kubernetes; whoever does tells it
// the fleet through Sync.
package lease

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Errors about a lease that cannot be used any more.
var (
	// ErrUnknown: there is no such lease, or it ended too long ago to be remembered.
	ErrUnknown = errors.New("unknown lease")
	// ErrExpired: the lease's time ran out before it was renewed.
	ErrExpired = errors.New("lease expired")
	// ErrProxyGone: the lease's proxy was deleted or has another address now.
	ErrProxyGone = errors.New("the proxy of the lease is gone")
)

// ErrNoMatch says why there was no proxy to lend. Each proxy that the selector
// matches is counted once, so the other four sum up to Considered.
type ErrNoMatch struct {
	Considered int
	AtCapacity int
	InCooldown int
	Unhealthy  int
	// Unusable are those that could be lent but for Request.Unusable.
	Unusable int
}

func (e *ErrNoMatch) Error() string {
	if e.Considered == 0 {
		return "no proxy has the attributes that the selector asks for"
	}
	return fmt.Sprintf("none of the %d matching proxies can be lent now: %d unhealthy, %d at capacity, %d in cooldown for this target, %d unusable",
		e.Considered, e.Unhealthy, e.AtCapacity, e.InCooldown, e.Unusable)
}

// Candidate is a proxy that may be lent.
type Candidate struct {
	// Key is namespace/name.
	Key string
	// UID tells this proxy from another one of the same name.
	UID        string
	Host       string
	Port       int32
	Scheme     string
	Attributes map[string]string
	// MaxLeases is how many leases may share the proxy at a time.
	MaxLeases int
	// Healthy proxies are lent; others only keep the leases they have.
	Healthy       bool
	LatencyMillis int64
}

func (c Candidate) matches(selector map[string]string) bool {
	for k, v := range selector {
		if have, ok := c.Attributes[k]; !ok || have != v {
			return false
		}
	}
	return true
}

func (c Candidate) sameAddress(o Candidate) bool {
	return c.Host == o.Host && c.Port == o.Port && c.Scheme == o.Scheme
}

// Request asks for a lease.
type Request struct {
	// Selector names attributes that the proxy must have.
	Selector map[string]string
	// Target is what the client will fetch from; cooldowns are kept for each.
	Target string
	TTL    time.Duration
	// Client is who asks.
	Client string
	// Unusable are the UIDs of proxies that the client could do nothing with.
	Unusable map[string]bool
}

// Lease is the right of one client to use one proxy for a while.
type Lease struct {
	ID     string
	Client string
	Target string
	// Proxy as it was when the lease was granted.
	Proxy     Candidate
	TTL       time.Duration
	GrantedAt time.Time
	ExpiresAt time.Time
}

// Result is what a client says of its lease.
type Result string

// The results.
const (
	ResultOK          Result = "ok"
	ResultRateLimited Result = "rate_limited"
	ResultBanned      Result = "banned"
)

// Valid says whether r is one of the results.
func (r Result) Valid() bool {
	return r == ResultOK || r == ResultRateLimited || r == ResultBanned
}

func (c Candidate) clone() Candidate {
	c.Attributes = maps.Clone(c.Attributes)
	return c
}
