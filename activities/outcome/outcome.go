// Package outcome has the ends of an attempt that say nothing about a backend: what
// providers can say is in activities/provider.
package outcome

import (
	"errors"
	"time"
)

// ErrSuperseded says that the caller's view of the object is old.
var ErrSuperseded = errors.New("superseded")

// ErrLost says that what was stored for the caller is there no more: it has to be made again.
var ErrLost = errors.New("lost")

// ErrPermanent says that no retry can help: somebody has to change something first.
var ErrPermanent = errors.New("permanent")

// NotYet ends an attempt of a polling activity: the next one comes after After. It
// leaves no event in the history.
type NotYet struct {
	After time.Duration
	What  string
}

func (e *NotYet) Error() string { return "not yet: " + e.What }

// Failing ends a polling step whose looks have failed for too long to say nothing.
type Failing struct {
	Since time.Time
	Err   error
}

func (e *Failing) Error() string {
	return e.Err.Error() + " (since " + e.Since.UTC().Format(time.TimeOnly) + " UTC)"
}

func (e *Failing) Unwrap() error { return e.Err }
