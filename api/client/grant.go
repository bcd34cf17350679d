package client

import (
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"time"
)

// Proxy is what is needed to connect. Printed or logged, it shows no credentials; as JSON,
// it does.
type Proxy struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Scheme     string            `json:"scheme"`
	Host       string            `json:"host"`
	Port       int               `json:"port"`
	Attributes map[string]string `json:"attributes"`
	Username   string            `json:"username,omitempty"`
	Password   string            `json:"password,omitempty"` // #nosec G117 -- whoever leased the proxy needs it
}

// URL of the proxy, with its credentials.
func (p Proxy) URL() *url.URL {
	u := &url.URL{Scheme: p.Scheme, Host: net.JoinHostPort(p.Host, strconv.Itoa(p.Port))}
	if p.Username != "" || p.Password != "" {
		u.User = url.UserPassword(p.Username, p.Password)
	}
	return u
}

// String is the proxy's name and address.
func (p Proxy) String() string {
	bare := p.URL()
	bare.User = nil
	return p.Namespace + "/" + p.Name + " at " + bare.String()
}

// GoString is String: %#v is no way to the credentials.
func (p Proxy) GoString() string { return p.String() }

// LogValue is String.
func (p Proxy) LogValue() slog.Value { return slog.StringValue(p.String()) }

// Why a session has another proxy than before.
const (
	MovedUnhealthy = "unhealthy"
	MovedCooldown  = "cooldown"
	MovedDraining  = "draining"
	MovedGone      = "proxy_gone"
)

// Grant is a lease as the API tells it.
type Grant struct {
	LeaseID string `json:"leaseID"`
	Proxy   Proxy  `json:"proxy"`
	// ExpiresAt is on the clock of the API, when it answered.
	ExpiresAt  time.Time `json:"expiresAt"`
	TTLSeconds int64     `json:"ttlSeconds"`
	Session    string    `json:"session,omitempty"`
	Exclusive  bool      `json:"exclusive,omitempty"`
	// Trial leases find out whether a ban is over.
	Trial bool `json:"trial,omitempty"`
	// SessionMoved says why the session has another proxy now: MovedUnhealthy, MovedCooldown,
	// MovedDraining or MovedGone; empty while it has the same one, or its first.
	SessionMoved string `json:"sessionMoved,omitempty"`
}

func (g Grant) ttl() time.Duration { return time.Duration(g.TTLSeconds) * time.Second }

// Listed is a lease in a list. Its proxy has no credentials.
type Listed struct {
	Grant

	Client    string    `json:"client"`
	Target    string    `json:"target,omitempty"`
	GrantedAt time.Time `json:"grantedAt"`
}

// Renewal is what the API says of a lease that goes on.
type Renewal struct {
	LeaseID    string    `json:"leaseID"`
	ExpiresAt  time.Time `json:"expiresAt"`
	TTLSeconds int64     `json:"ttlSeconds"`
	// ProxyHealthy is false for a proxy that is lent to nobody else until it answers again.
	ProxyHealthy bool `json:"proxyHealthy"`
	// ProxyDraining: the proxy is about to be replaced, so the lease should end soon.
	ProxyDraining bool `json:"proxyDraining"`
}
