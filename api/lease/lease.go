// Package lease lends proxies: it picks one for each request, hands freed ones to those
// who wait, and keeps sessions, cooldowns, quotas and budgets, all in memory, each change
// journalled before it is told. It knows neither HTTP nor Kubernetes; whoever does
// tells it the fleet.
package lease

import (
	"time"
)

// BanLimit is how many bans, together within Window, ask for another instance. The zero
// value asks for none.
type BanLimit struct {
	Count  int
	Window time.Duration
}

// Candidate is a proxy that may be lent. Its Attributes are never changed.
type Candidate struct {
	// Key is namespace/name.
	Key string
	// UID tells this proxy from another one of the same name.
	UID string
	// Version grows with each change of the address. What is older than what is known, be it
	// from the journal, is ignored: a view may be behind.
	Version    int64
	Host       string
	Port       int32
	Scheme     string
	Attributes map[string]string
	// MaxLeases is how many leases may share the proxy at a time.
	MaxLeases int
	// Healthy proxies are lent; others only keep the leases they have.
	Healthy bool
	// Draining proxies are about to be replaced: they keep the leases they have.
	Draining      bool
	LatencyMillis int64
	Bans          BanLimit
}

// Quota bounds what one client may have at a time; 0 is no bound.
type Quota struct {
	// Leases that are active.
	Leases int
	// Waiting requests.
	Waiting int
}

// Request asks for a lease, or for several.
type Request struct {
	// Selector names attributes that the proxies must have.
	Selector map[string]string
	// Target is what the client will fetch from, a host in lower case; cooldowns and
	// budgets are kept for each.
	Target string
	TTL    time.Duration
	// Client is who asks, and Quota what it may have.
	Client string
	Quota  Quota
	// Exclusive leases share their proxy with no other.
	Exclusive bool
	// Session, if set, gets the same proxy as the last time the client named it. It gets one
	// lease, whatever Count says.
	Session string
	// Count is how many leases are asked for, all or none; 0 is one. With AtLeast above 0,
	// that many do.
	Count, AtLeast int
	// Wait is how long the request may wait for proxies to become free.
	Wait time.Duration
	// Priority goes first among those who wait: 0 to MaxPriority.
	Priority int
	// Key, if set, makes repeating the request harmless; Fingerprint tells another request
	// with the same key.
	Key, Fingerprint string
}

// MaxPriority of a Request.
const MaxPriority = 9

// Grant is what a Request got.
type Grant struct {
	Leases []Lease
	// Moved says why the session has another proxy now; empty while it has the same one,
	// or its first.
	Moved string
	// Waited is how long the request waited for a slot.
	Waited time.Duration
	// Repeated: an earlier request with the same key got it.
	Repeated bool
}

// Why a session moved.
const (
	MovedUnhealthy = "unhealthy"
	MovedCooldown  = "cooldown"
	MovedDraining  = "draining"
	MovedGone      = "proxy_gone"
)

// Lease is the right of one client to use one proxy for a while.
type Lease struct {
	ID      string
	Client  string
	Target  string
	Session string
	// Exclusive: the proxy has no other lease.
	Exclusive bool
	// Trial is the one lease that finds out whether a ban is over.
	Trial bool
	// Proxy as it was when the lease was granted.
	Proxy Candidate
	TTL   time.Duration
	// GrantedAt is for people: on the wall clock of the process that granted.
	GrantedAt time.Time
	// ExpiresAt is the wall clock's time that the lease has now; a lease is counted in the
	// time that was served.
	ExpiresAt time.Time
}

// Renewal is a lease that goes on, and what is to be known of its proxy.
type Renewal struct {
	Lease Lease
	// Healthy is false for a proxy that is not lent any more until it answers again.
	Healthy bool
	// Draining: the proxy is about to be replaced, so the lease should end soon.
	Draining bool
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

// Report is what the client of a lease has seen.
type Report struct {
	Result Result
	// Target, if not the lease's.
	Target string
	// RetryAfter is what the target asked for with ResultRateLimited; 0 if it did not.
	RetryAfter time.Duration
}

// Cooldown is why a proxy is not lent for a target.
type Cooldown struct {
	// Target; empty for leases without one.
	Target string
	// Result that began it; ResultBanned ones end in a trial.
	Result Result
	// Until is when it is over; of a ban, when the next trial may be lent.
	Until time.Time
	// Strikes are the bans in a row.
	Strikes int
	// Trial says whether a single lease finds out now.
	Trial bool
}

// Facts are what is known of one proxy.
type Facts struct {
	// Active leases.
	Active int
	// Cooldowns by target.
	Cooldowns []Cooldown
	// Bans that were reported of its address within its Candidate's BanLimit.Window.
	Bans int
}

// Budget bounds how often a target is fetched: grants a minute for each usable proxy.
type Budget struct {
	Target            string
	PerProxyPerMinute float64
}

// Notice is a proxy whose workflow should look at its leases.
type Notice struct {
	Proxy Candidate
	// Banned: as many bans came together as its BanLimit says. Otherwise it drains, and its
	// last lease ended.
	Banned bool
}
