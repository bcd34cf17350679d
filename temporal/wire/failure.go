package wire

import "time"

// Failure types: the type of the application failure that an activity ends in.
const (
	FailureNotFound  = "NotFound"
	FailureTransient = "Transient"
	FailureQuota     = "QuotaExceeded"
	FailurePermanent = "Permanent"
	FailureBusy      = "Busy"
	// FailureSuperseded: the caller's view is old; claim again.
	FailureSuperseded = "Superseded"
	// FailureLost: what was stored for the caller is there no more; make it again.
	FailureLost = "Lost"
	// FailureNotYet ends an attempt of a polling activity; it is no error.
	FailureNotYet = "NotYet"
	// FailureProviderUnavailable: this worker does not serve the provider.
	FailureProviderUnavailable = "ProviderUnavailable"
)

// Bounds on creating an instance. An attempt stops by itself at its deadline, so
// that after CreateAttempt + AttemptSlack since its start it cannot be running,
// with clocks of worker and server AttemptSlack apart.
const (
	CreateAttempt = time.Minute
	AttemptSlack  = 30 * time.Second
)

// FailureDetail is the detail of an application failure.
type FailureDetail struct {
	// Attempt that failed.
	Attempt int32 `json:"attempt"`
	// Run of the workflow that the attempt belongs to.
	Run string `json:"run,omitempty"`
}
