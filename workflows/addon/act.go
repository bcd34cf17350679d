package addon

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"example.com/fairlead/temporal/wire"
)

// refusedDelay is how long a status is left alone that the API server refused.
const refusedDelay = time.Minute

func (r *run) claim(ctx workflow.Context) (claim wire.AddonClaim, err error) {
	err = workflow.ExecuteActivity(withObjectOptions(ctx, "read "+r.addon.String()), wire.ActivityAddonClaim, r.addon).Get(ctx, &claim)
	return claim, r.again(ctx, err)
}

func (r *run) preview(ctx workflow.Context, claim wire.AddonClaim) error {
	in := wire.AddonPreviewInput{Addon: r.addon, Generation: claim.Generation}
	var p wire.AddonPreview
	if err := r.long(ctx, claim, withLookOptions(ctx, "render, and compare with the cluster"), wire.ActivityAddonPreview, in, &p); err != nil {
		return r.failed(ctx, err, claim)
	}
	r.state.Work.Preview = &p
	return nil
}

func (r *run) publish(ctx workflow.Context, s Step) error {
	if r.state.Work.Ended == nil {
		r.state.Work.Ended = s.Ended
	}
	in := wire.AddonPublishInput{Addon: r.addon, Status: s.Status, Render: s.Render, Ran: r.state.Work.Ran, Ended: r.state.Work.Ended}
	err := workflow.ExecuteActivity(withObjectOptions(ctx, headline(s.Status)), wire.ActivityAddonPublish, in).Get(ctx, nil)
	if err != nil {
		return r.unpublished(ctx, err)
	}
	r.inbox.drainSyncs(r) // who asked until now has not seen this status
	r.state.Stored, r.state.Sync, r.superseded = s.Status, copied(s.Status.Sync), false
	r.state.Work.Ran, r.state.Work.Ended = nil, nil
	if s.Done {
		r.complete(ctx)
	}
	return r.index(ctx, s.Status)
}

// unpublished is after a status that was not written. One that the API server will never
// take is not sent at once again.
func (r *run) unpublished(ctx workflow.Context, err error) error {
	if ctx.Err() != nil || failureType(err) != wire.FailurePermanent {
		return r.again(ctx, err)
	}
	workflow.GetLogger(ctx).Error("the API server refuses the status", "error", err)
	r.dirty = true
	return workflow.Sleep(ctx, refusedDelay)
}

// complete is after the status of a completed sync.
func (r *run) complete(ctx workflow.Context) {
	defined := r.state.Work.Defined
	if w := r.state.Work; w.Applied == nil && w.Preview.Writes > 0 { // what was found to differ is no part of what was approved
		r.later = true
	}
	r.state.Work = Work{Done: true}
	r.state.Failure = nil
	r.state.Settled = workflow.Now(ctx).Add(settlePatience)
	// Once is enough: a definition that somebody else changes back is for sweeps.
	if defined && !r.defined {
		r.defined, r.later = true, true
	}
}

func (r *run) apply(ctx workflow.Context, s Step, claim wire.AddonClaim) error {
	in := wire.AddonApplyInput{Addon: r.addon, Plan: s.Plan, Part: s.Part, Approved: s.Approved}
	var applied wire.AddonApplied
	if err := r.long(ctx, claim, withLongOptions(ctx, applyWords[s.Part], applyWindow), wire.ActivityAddonApply, in, &applied); err != nil {
		if failureType(err) == wire.FailureLost { // the next look makes its plan again, and another is to be approved anew
			r.state.LostPlan = s.Plan
			r.state.Sync.PlanHash, r.state.Sync.Approver = "", wire.Approver{}
		}
		return r.failed(ctx, err, claim)
	}
	r.state.Work.Defined = r.state.Work.Defined || applied.Defined
	switch {
	case applied.Moved != "":
		r.moved(ctx, joined(applied.Moved, applied.Failed), claim)
	case applied.Failed != "":
		r.stumble(ctx, applied.Failed, claim)
	case s.Part == wire.PartEarly:
		r.state.Work.Early = true
	default:
		r.state.Sync.Applied = true
		r.state.Work.Applied = &applied
	}
	return nil
}

// maxStopped is how often one episode begins anew because the cluster moved.
const maxStopped = 3

// moved is after a sync that found the cluster another than it was reviewed: the plan is
// used up, and another look says what there is to do now.
func (r *run) moved(ctx workflow.Context, what string, claim wire.AddonClaim) {
	r.state.Work.Stopped++
	if r.state.Work.Stopped > maxStopped {
		r.stumble(ctx, what, claim)
		return
	}
	end := r.state.ended(wire.OutcomeStopped, what, workflow.Now(ctx))
	r.state.Sync.PlanHash, r.state.Sync.Approver = "", wire.Approver{}
	r.state.Work = Work{Stopped: r.state.Work.Stopped, Ran: r.state.Work.Ran, Ended: &end}
}

func (r *run) remove(ctx workflow.Context, claim wire.AddonClaim) error {
	if r.state.Stored.Sets.Inventory == "" { // it never had anything
		r.state.Sync.Applied = true
		return nil
	}
	in := wire.AddonRemoveInput{Addon: r.addon, Inventory: r.state.Stored.Sets.Inventory}
	var removed wire.AddonRemoved
	if err := r.long(ctx, claim, withWaitOptions(ctx, "remove its objects", applyWindow), wire.ActivityAddonRemove, in, &removed); err != nil {
		return r.failed(ctx, err, claim)
	}
	if removed.Failed != "" {
		r.stumble(ctx, "uninstalling: "+removed.Failed+"; "+undo(r.addon), claim)
		return nil
	}
	r.state.Sync.Applied, r.state.Work.Kept = true, removed.Kept
	return nil
}

func (r *run) release(ctx workflow.Context) error {
	in := wire.AddonReleaseInput{Addon: r.addon, Kept: r.state.Work.Kept}
	err := workflow.ExecuteActivity(withObjectOptions(ctx, "let "+r.addon.String()+" go"), wire.ActivityAddonRelease, in).Get(ctx, nil)
	return r.again(ctx, err)
}

// undo says how an uninstall is called off.
func undo(addon wire.AddonRef) string {
	return "to leave what it has in the cluster instead: kubectl annotate addon " + addon.Name + " rendimiento.ai/uninstall-"
}
