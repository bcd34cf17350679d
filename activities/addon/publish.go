package addon

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/outcome"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/temporal/wire"
)

// Publish writes a status, fenced by its sequence: a lost reply may make it run twice, and
// a newer writer may have been here. Lists come from the set store, and of the one before.
func (a *Activities) Publish(ctx context.Context, in wire.AddonPublishInput) error {
	o, found, err := a.get(ctx, in.Addon)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: Addon %s is gone", outcome.ErrSuperseded, in.Addon)
	}
	if done, err := fenced(o, in); done || err != nil {
		return err
	}
	old := o.Status.DeepCopy() // what is written is read back into o
	status, keep, err := a.compose(ctx, old, in)
	if err != nil {
		return err
	}
	o.Status = *status.DeepCopy()
	if err := a.write(ctx, o, in.Addon); err != nil {
		return err
	}
	// A status that was stored already has been told.
	a.Events.Tell(o, changes(old, &o.Status, in)...)
	// A sync that is under way has a status to come, and few sets more than before.
	if fromStatus(old).Sets == in.Status.Sets || in.Status.Phase == wire.AddonSyncing {
		return nil
	}
	if err := a.Store.Evict(ctx, in.Addon.Name, keep); err != nil {
		// What is left now, a later change evicts.
		a.Log.WarnContext(ctx, "old sets of an add-on stay", slog.String("addon", in.Addon.Name), slog.Any("error", err))
	}
	return nil
}

// fenced says whether a status is there already, or why it may not be written.
func fenced(o *addons.Addon, in wire.AddonPublishInput) (done bool, err error) {
	switch sequence := in.Status.Sequence; {
	case o.Status.Sequence > sequence:
		return false, fmt.Errorf("%w: Addon %s has status %d, this is %d", outcome.ErrSuperseded, in.Addon, o.Status.Sequence, sequence)
	case o.Status.Sequence == sequence && !says(&o.Status, in.Status):
		return false, fmt.Errorf("%w: another status %d of Addon %s is stored", outcome.ErrSuperseded, sequence, in.Addon)
	case o.Status.Sequence == sequence:
		return true, nil
	case overtaken(o, in.Status):
		return false, fmt.Errorf("%w: a sync of Addon %s was asked for while this plan was made", outcome.ErrSuperseded, in.Addon)
	}
	return false, nil
}

// overtaken says whether spec.syncRequest was raised since the claim that s is about, and s
// would show another plan than whoever raised it saw: the request would approve that one.
func overtaken(o *addons.Addon, s wire.AddonStatus) bool {
	return s.ObservedGeneration != o.Generation && o.Spec.SyncRequest > s.AppliedSyncRequest &&
		s.PlanHash != "" && s.PlanHash != hashOf(&o.Status)
}

func (a *Activities) write(ctx context.Context, o *addons.Addon, ref wire.AddonRef) error {
	err := a.Client.Status().Update(ctx, o, kube.FieldOwner)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: Addon %s is gone", outcome.ErrSuperseded, ref)
	case apierrors.IsInvalid(err), apierrors.IsRequestEntityTooLargeError(err):
		return fmt.Errorf("write the status of Addon %s: %w: %w", ref, err, outcome.ErrPermanent)
	case err != nil: // a conflict reads again and judges anew
		return fmt.Errorf("write the status of Addon %s: %w", ref, err)
	}
	return nil
}

// appendRuns returns the ends of hooks with those of now behind them.
func appendRuns(old []addons.HookRun, ran []wire.AddonHookRun) []addons.HookRun {
	out := slices.Clone(old)
	for _, r := range ran {
		status := addons.HookSucceeded
		if r.Failed {
			status = addons.HookFailed
		}
		out = append(out, addons.HookRun{
			Event: r.Event, Name: r.Name, Kind: r.Kind, Status: status, Message: r.Message, Finished: toTime(r.At),
		})
	}
	return out
}

// appendEnd returns the history with the sync that has ended, if one has.
func appendEnd(old []addons.HistoryEntry, end *wire.AddonSyncEnd) []addons.HistoryEntry {
	if end == nil {
		return old
	}
	return append(slices.Clone(old), addons.HistoryEntry{
		Revision: end.Revision, PlanHash: end.PlanHash, Who: end.Approver.Name, Verified: end.Approver.Verified,
		At: metav1.NewTime(end.At.Truncate(time.Second)), Outcome: addons.Outcome(end.Outcome), Message: end.Message,
	})
}
