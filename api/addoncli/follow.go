package addoncli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/fairlead/api/client"
)

// Phases in which a sync can end.
const (
	phaseSynced    = "Synced"
	phaseOutOfSync = "OutOfSync"
	phaseBlocked   = "Blocked"
	phaseError     = "Error"
	phaseSuspended = "Suspended"
)

// following looks at an add-on until the sync that was approved has ended.
type following struct {
	api      *client.Client
	name     string
	approved client.Approval
	poll     time.Duration
	tell     func(...any)
	// uid and last are of before the approval: the object, and its newest sync.
	uid  string
	last client.AddonSync
	// said was told last.
	said string
}

func lastOf(history []client.AddonSync) client.AddonSync {
	if len(history) == 0 {
		return client.AddonSync{}
	}
	return history[len(history)-1]
}

func (f *following) follow(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the sync has not ended within %s: it goes on; fairlead addon history %s tells how it ends", limit, f.name))
	defer cancel()
	tick := time.NewTicker(f.poll)
	defer tick.Stop()
	for {
		a, err := f.api.Addon(ctx, f.name)
		if errors.Is(err, client.ErrUnknownAddon) {
			return fmt.Errorf("add-on %s was deleted", f.name)
		}
		if err != nil {
			return err
		}
		if says := how(a.Addon); says != f.said {
			f.said = says
			f.tell(says)
		}
		if ended, err := f.ended(a); ended {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// ended says whether the sync has, and if it did not succeed why.
func (f *following) ended(a client.AddonDetails) (bool, error) {
	switch {
	case a.UID != f.uid:
		return true, fmt.Errorf("add-on %s was deleted, and made anew", f.name)
	case a.Deleting:
		return true, fmt.Errorf("add-on %s is being deleted", f.name)
	case a.ObservedGeneration < f.approved.Generation:
		return false, nil // it speaks of what was before
	}
	if last := lastOf(a.History); last != f.last && last.PlanHash == f.approved.Plan && last.Outcome != client.SyncSucceeded {
		return true, fmt.Errorf("the sync of add-on %s %s: %s", f.name, outcome(last.Outcome), safe(last.Message))
	}
	switch a.Phase {
	case phaseSynced:
		return true, nil
	case phaseError, phaseBlocked, phaseSuspended:
		return true, fmt.Errorf("add-on %s is %s", f.name, how(a.Addon))
	case phaseOutOfSync:
		if a.Plan.Hash != f.approved.Plan {
			return true, fmt.Errorf("add-on %s is %s: another plan waits, %s: look at it with fairlead addon diff %s", f.name, how(a.Addon), a.Plan.Hash, f.name)
		}
	}
	return false, nil
}

func outcome(o string) string {
	switch o {
	case client.SyncFailed:
		return "failed"
	case client.SyncStopped:
		return "stopped"
	}
	return "ended as " + safe(o)
}
