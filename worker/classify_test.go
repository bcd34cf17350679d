package worker

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/fetch"
	"example.com/fairlead/activities/outcome"
	"example.com/fairlead/activities/provider"
	"example.com/fairlead/temporal/conn"
	"example.com/fairlead/temporal/wire"
)

// TestClassify wraps each class many times over: type, retryability and delay stay.
func TestClassify(t *testing.T) {
	tests := []struct {
		err  error
		want conn.Class
	}{
		{provider.ErrNotFound, conn.Class{Type: wire.FailureNotFound, NonRetryable: true}},
		{provider.ErrTransient, conn.Class{Type: wire.FailureTransient}},
		{provider.ErrQuotaExceeded, conn.Class{Type: wire.FailureQuota, After: 5 * time.Minute, Benign: true}},
		{provider.ErrPermanent, conn.Class{Type: wire.FailurePermanent, NonRetryable: true}},
		{provider.ErrBusy, conn.Class{Type: wire.FailureBusy, After: 2 * time.Second, Benign: true}},
		{outcome.ErrSuperseded, conn.Class{Type: wire.FailureSuperseded, NonRetryable: true, Benign: true}},
		{outcome.ErrLost, conn.Class{Type: wire.FailureLost, NonRetryable: true, Benign: true}},
		{outcome.ErrPermanent, conn.Class{Type: wire.FailurePermanent, NonRetryable: true}},
		{fetch.Permanent("no such chart"), conn.Class{Type: wire.FailurePermanent, NonRetryable: true}},
		{fetch.Temporary("503"), conn.Class{Type: wire.FailureTransient}},
		{&outcome.NotYet{After: time.Second}, conn.Class{Type: wire.FailureNotYet, After: time.Second, Benign: true}},
		{&outcome.Failing{Err: provider.ErrTransient}, conn.Class{Type: wire.FailureTransient, NonRetryable: true}},
		{errors.New("no class"), conn.Class{Type: wire.FailureTransient}},
	}
	for _, tt := range tests {
		t.Run(tt.want.Type, func(t *testing.T) {
			err := tt.err
			for depth := range 12 {
				if diff := cmp.Diff(tt.want, classify(err)); diff != "" {
					t.Fatalf("wrapped %d deep (-want +got):\n%s", depth, diff)
				}
				if depth%3 == 2 {
					err = errors.Join(errors.New("beside"), err)
				} else {
					err = fmt.Errorf("at depth %d: %w", depth, err)
				}
			}
		})
	}
}
