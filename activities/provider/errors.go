package provider

import (
	"context"
	"errors"
	"time"
)

// Error classes. Wrapping any number of times keeps the class; an error without
// one is transient.
var (
	// ErrNotFound: the instance is not there.
	ErrNotFound = errors.New("not found")
	// ErrTransient: a retry may help.
	ErrTransient = errors.New("transient failure")
	// ErrQuotaExceeded: the backend has no room; a later retry may help.
	ErrQuotaExceeded = errors.New("quota exceeded")
	// ErrPermanent: only a change of the object, its Secrets or the providers file
	// can help.
	ErrPermanent = errors.New("permanent failure")
	// ErrBusy: a bounded queue of our own is full; retry soon.
	ErrBusy = errors.New("busy")
)

// Class returns the error class of err: one of the errors above, or nil for nil.
func Class(err error) error {
	if err == nil {
		return nil
	}
	for _, class := range []error{ErrNotFound, ErrQuotaExceeded, ErrPermanent, ErrBusy} {
		if errors.Is(err, class) {
			return class
		}
	}
	return ErrTransient
}

// Overdue is the error of a call whose deadline has passed, by the clock on the wall:
// a process or a machine that was stopped for a while goes on as if no time had gone by.
// After it nobody counts on the call any more: it must not make anything.
func Overdue(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Round(0).Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
