package worker

import (
	"errors"
	"time"

	"example.com/fairlead/activities/fetch"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// How long to wait before the next attempt of a call that was refused.
const (
	quotaRetry = 5 * time.Minute
	busyRetry  = 2 * time.Second
)

// classify gives each error class its failure.
func classify(err error) conn.Class {
	var notYet *outcome.NotYet
	var failing *outcome.Failing
	switch {
	case errors.As(err, &notYet):
		return conn.Class{Type: wire.FailureNotYet, After: notYet.After, Benign: true}
	case errors.As(err, &failing):
		return conn.Class{Type: wire.FailureTransient, NonRetryable: true}
	case errors.Is(err, outcome.ErrSuperseded):
		return conn.Class{Type: wire.FailureSuperseded, NonRetryable: true, Benign: true}
	case errors.Is(err, outcome.ErrLost):
		return conn.Class{Type: wire.FailureLost, NonRetryable: true, Benign: true}
	case errors.Is(err, outcome.ErrPermanent), errors.Is(err, fetch.ErrPermanent):
		return conn.Class{Type: wire.FailurePermanent, NonRetryable: true}
	}
	switch class := provider.Class(err); {
	case errors.Is(class, provider.ErrNotFound):
		return conn.Class{Type: wire.FailureNotFound, NonRetryable: true}
	case errors.Is(class, provider.ErrQuotaExceeded):
		return conn.Class{Type: wire.FailureQuota, After: quotaRetry, Benign: true}
	case errors.Is(class, provider.ErrPermanent):
		return conn.Class{Type: wire.FailurePermanent, NonRetryable: true}
	case errors.Is(class, provider.ErrBusy):
		return conn.Class{Type: wire.FailureBusy, After: busyRetry, Benign: true}
	default:
		return conn.Class{Type: wire.FailureTransient}
	}
}
