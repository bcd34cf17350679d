package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// What an error of the API can be asked for with errors.Is.
var (
	// ErrExpired: the lease's time is over; nobody renewed it.
	ErrExpired = errors.New("the lease has expired")
	// ErrProxyGone: the lease's proxy was deleted, or has another address now.
	ErrProxyGone = errors.New("the proxy of the lease is gone")
	// ErrUnknownLease: the API knows no such lease, or not as one of this token.
	ErrUnknownLease = errors.New("unknown lease")
	// ErrUnauthorized: the API does not know the token.
	ErrUnauthorized = errors.New("the token is not known")
	// ErrForbidden: the token's scopes do not allow this.
	ErrForbidden = errors.New("the token may not do this")
	// ErrQuota: the client has as much as it may have.
	ErrQuota = errors.New("the quota of the client is spent")
	// ErrBudget: the target was fetched as often as it may be for now.
	ErrBudget = errors.New("the budget of the target is spent")
	// ErrUnavailable: the API cannot serve now.
	ErrUnavailable = errors.New("the API is not available")
)

// The same of add-ons.
var (
	// ErrUnknownAddon: there is no such add-on.
	ErrUnknownAddon = errors.New("unknown add-on")
	// ErrNoPlan: no plan of the add-on waits.
	ErrNoPlan = errors.New("no plan waits")
	// ErrOtherPlan: the plan that waits is another one.
	ErrOtherPlan = errors.New("another plan waits")
)

// ErrReleased is what Lease.Err says after Close or Detach.
var ErrReleased = errors.New("the lease was given back or away")

// Codes of refusals that have something to come after them.
const (
	codeNoMatch  = "no_match"
	codeKeyInUse = "key_in_use"
	codeNoAddons = "no_addons"
)

// classes are the errors that the codes of the API stand for.
var classes = map[string]error{
	"lease_expired":     ErrExpired,
	"proxy_gone":        ErrProxyGone,
	"unknown_lease":     ErrUnknownLease,
	"unauthorized":      ErrUnauthorized,
	"too_many_failures": ErrUnauthorized,
	"forbidden":         ErrForbidden,
	"quota_exceeded":    ErrQuota,
	"budget_exceeded":   ErrBudget,
	"unavailable":       ErrUnavailable,
	"stopping":          ErrUnavailable,
	"no_leader":         ErrUnavailable,
	"busy":              ErrUnavailable,
	"unknown_addon":     ErrUnknownAddon,
	"no_plan":           ErrNoPlan,
	"other_plan":        ErrOtherPlan,
}

// Error is a refusal of the API.
type Error struct {
	Status int
	// Code is the API's word for what is wrong; empty if no API of Fairlead answered.
	Code      string
	Message   string
	RequestID string
	// RetryAfter is when it may be worth asking again; 0 if the API did not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("no API of Fairlead: HTTP %d %s", e.Status, http.StatusText(e.Status))
	}
	if e.RequestID == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s (request %s)", e.Code, e.Message, e.RequestID)
}

// Unwrap returns the error that Code stands for, if it is one of this package.
func (e *Error) Unwrap() error { return classes[e.Code] }

// NoMatch says why there was no proxy to lend. The other five counts sum up to Considered.
type NoMatch struct {
	Considered int `json:"considered"`
	AtCapacity int `json:"atCapacity"`
	InCooldown int `json:"inCooldown"`
	Unhealthy  int `json:"unhealthy"`
	Draining   int `json:"draining"`
	Unusable   int `json:"unusable"`
	// RetryAfter is when it may be worth asking again; 0 if nothing is known to change.
	RetryAfter time.Duration `json:"-"`

	refusal *Error
}

func (e *NoMatch) Error() string { return e.refusal.Error() }

// Unwrap returns the refusal as an *Error.
func (e *NoMatch) Unwrap() error { return e.refusal }

// refusalOf reads the answer to a request that was not done.
func refusalOf(status int, header http.Header, body []byte) error {
	var said struct {
		Error             string `json:"error"`
		Message           string `json:"message"`
		RequestID         string `json:"requestID"`
		RetryAfterSeconds int64  `json:"retryAfterSeconds"`
	}
	e := &Error{Status: status}
	if json.Unmarshal(body, &said) == nil {
		e.Code, e.Message, e.RequestID = said.Error, said.Message, said.RequestID
		e.RetryAfter = time.Duration(said.RetryAfterSeconds) * time.Second
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	if e.Code != codeNoMatch {
		return e
	}
	none := &NoMatch{RetryAfter: e.RetryAfter, refusal: e}
	if err := json.Unmarshal(body, none); err != nil {
		return e
	}
	return none
}
