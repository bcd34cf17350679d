package lease

import (
	"errors"
	"fmt"
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

// Errors of requests.
var (
	// ErrUnknownProxy: the fleet has no such proxy.
	ErrUnknownProxy = errors.New("unknown proxy")
	// ErrKeyReused: the key was used for another request.
	ErrKeyReused = errors.New("the key was used for another request")
	// ErrKeyInUse: a request with the same key waits.
	ErrKeyInUse = errors.New("a request with the same key waits")
	// ErrTooManyKeys: the client has as many keys as are remembered.
	ErrTooManyKeys = errors.New("too many keys")
	// ErrTooManyTargets: the lease reported on as many targets as are taken.
	ErrTooManyTargets = errors.New("too many targets of one lease")
	// ErrUnavailable: the engine cannot keep what it would grant, or knows no fleet yet.
	ErrUnavailable = errors.New("leases are not available")
	// ErrStopped: the engine ended while the request waited.
	ErrStopped = errors.New("the engine stopped")
)

// NoMatchError says why there was no proxy to lend. Each proxy that the selector matches is
// counted once, so the other five sum up to Considered.
type NoMatchError struct {
	Considered int
	AtCapacity int
	InCooldown int
	Unhealthy  int
	Draining   int
	// Unusable are those that were set aside.
	Unusable int
	// RetryAfter is when it may be worth asking again; 0 if nothing is known to change.
	RetryAfter time.Duration
	// SessionProxy is the Key of the proxy that the session is bound to, if that decided.
	SessionProxy string
}

func (e *NoMatchError) Error() string {
	switch {
	case e.Considered == 0 && e.SessionProxy != "":
		return "the session is bound to " + e.SessionProxy + ", which lacks the attributes that the selector asks for"
	case e.Considered == 0:
		return "no proxy has the attributes that the selector asks for"
	case e.SessionProxy != "":
		return "the session is bound to " + e.SessionProxy + ", which has no room for another lease now"
	}
	return fmt.Sprintf("no proxy can be lent now: of %d that match, %d are unhealthy, %d draining, %d at capacity, %d in cooldown for this target, %d unusable",
		e.Considered, e.Unhealthy, e.Draining, e.AtCapacity, e.InCooldown, e.Unusable)
}

// QuotaError says that a client has as much as it may have.
type QuotaError struct {
	// What is bounded: "leases", "sessions", "waiting requests".
	What  string
	Limit int
	// Shared: all clients together have as much as they may have.
	Shared bool
}

// errCrowded refuses who would wait, and could else for another selector.
var errCrowded = &QuotaError{What: "selectors that requests wait for", Limit: maxWaited, Shared: true}

func (e *QuotaError) Error() string {
	if e.Shared {
		return fmt.Sprintf("the clients have %d %s, which is all they may have together", e.Limit, e.What)
	}
	return fmt.Sprintf("the client has %d %s, which is all it may have", e.Limit, e.What)
}

// BudgetError says that a target was fetched as often as it may be.
type BudgetError struct {
	Target string
	// RetryAfter is when the budget has room again.
	RetryAfter time.Duration
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the budget of target %s is spent for %s", e.Target, e.RetryAfter.Round(time.Second))
}
