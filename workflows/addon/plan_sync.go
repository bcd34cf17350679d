package addon

import (
	"cmp"
	"fmt"
	"time"

	"example.com/fairlead/temporal/wire"
)

// nextOfSync does what was approved.
func nextOfSync(s State, c wire.AddonClaim, now time.Time) Step {
	switch {
	case !s.underWay():
		return Step{Kind: Begin, Sync: s.begin(c)}
	case !s.begun():
		status := s.planned(c, wire.AddonSyncing, s.Work.Preview.Summary)
		return publishOr(s, status, Step{Kind: Park})
	}
	return s.afterProgress(s.nextToDo(c, now), c, wire.AddonSyncing, s.Work.Preview.Hooks, s.Work.Preview.Summary)
}

// nextToDo is the next of a sync that has begun.
func (s *State) nextToDo(c wire.AddonClaim, now time.Time) Step {
	if s.Work.HookFailed != "" {
		return s.afterFailedHook()
	}
	pre, post := split(s.Work.Preview.Hooks)
	if !s.Sync.Applied {
		return s.nextToApply(pre, len(post) > 0)
	}
	if step, ok := s.nextHook(post, s.Sync.Post); ok {
		return step
	}
	return s.completed(c, now)
}

// afterProgress tells first how far a sync with hooks has got, where there is more to do:
// whoever takes over does not begin anew.
func (s *State) afterProgress(next Step, c wire.AddonClaim, phase string, hooks []wire.AddonHook, doing string) Step {
	more := next.Kind == Hook || next.Kind == Tidy || next.Kind == Apply || next.Kind == Remove
	if !more || len(hooks) == 0 || sameSync(s.Stored.Sync, s.Sync) {
		return next
	}
	status := s.status(c, phase, fmt.Sprintf("%d of %d hooks have run; %s", s.Sync.Pre+s.Sync.Post, len(hooks), doing))
	if s.Work.Preview != nil {
		status = s.planned(c, phase, status.Message)
	}
	return publishOr(*s, status, Step{Kind: Park})
}

// underWay says whether the sync in memory is that of the preview.
func (s *State) underWay() bool {
	if s.Sync == nil || s.Sync.Lifecycle == wire.LifecycleDelete || s.Sync.Hash != s.Work.Preview.Hash || s.Sync.PlanHash == "" {
		return false
	}
	return s.keepsPlan() || s.Sync.PlanHash == s.planHash()
}

// nextToApply is the next until the objects are applied: with hooks, what those need comes
// first.
func (s *State) nextToApply(pre []wire.AddonHook, more bool) Step {
	if len(pre) == 0 && !more {
		return s.apply(wire.PartAll)
	}
	if !s.Work.Early {
		return s.apply(wire.PartEarly)
	}
	if step, ok := s.nextHook(pre, s.Sync.Pre); ok {
		return step
	}
	return s.apply(wire.PartRest)
}

// keepsPlan says whether the plan that is being applied is one that somebody approved:
// what is found to differ meanwhile is no part of it. It is not until the object tells of it,
// with the inventory, nor any more if it is lost.
func (s *State) keepsPlan() bool {
	return s.resumes() && s.Sync.Approver != (wire.Approver{}) && s.told() && s.Stored.Sets.Plan != s.LostPlan
}

// told says whether the object tells of the sync.
func (s *State) told() bool {
	st := s.Stored.Sync
	return st != nil && st.ID == s.Sync.ID && st.PlanHash == s.Sync.PlanHash
}

// planHash is what is about to be done.
func (s *State) planHash() string { return cmp.Or(s.Work.Preview.PlanHash, s.Work.Preview.Hash) }

// begin is the sync of the preview. What an unfinished sync of the same content has done
// counts as done.
func (s *State) begin(c wire.AddonClaim) *wire.AddonSync {
	p := s.Work.Preview
	next := wire.AddonSync{Lifecycle: p.Lifecycle, Hash: p.Hash}
	if s.Sync != nil && s.Sync.Hash == p.Hash && s.Sync.Lifecycle == p.Lifecycle {
		next = *s.Sync
	}
	next.Applied = next.Applied && p.Writes == 0
	next.PlanHash, next.Approver = s.planHash(), wire.Approver{}
	if s.asked(c) {
		next.Approver = c.Approver
		if next.Approver.Name == "" {
			next.Approver.Name = "unknown"
		}
	}
	return &next
}

// begun says whether the object tells of the sync: the inventory has what it may make.
func (s *State) begun() bool {
	st, p := s.Stored, s.Work.Preview
	if !s.told() {
		return false
	}
	return s.keepsPlan() || p.Writes == 0 || st.Sets.Plan == p.Plan && (p.Inventory == "" || st.Sets.Inventory == p.Inventory)
}

func (s *State) apply(part string) Step {
	return Step{Kind: Apply, Plan: s.Stored.Sets.Plan, Part: part, Approved: s.Sync.Approver != (wire.Approver{})}
}

// nextHook is the next of the hooks of an event, of which so many are done, or the tidying
// up after all.
func (s *State) nextHook(hooks []wire.AddonHook, done int) (Step, bool) {
	if len(hooks) == 0 {
		return Step{}, false
	}
	ran, event := 0, hooks[0].Event
	if s.Work.Event == event {
		ran = len(s.Work.Runs)
	}
	switch {
	case done >= len(hooks) && s.Sync.Tidied == event:
		return Step{}, false
	case ran < len(hooks) && (done < len(hooks) || ran > 0): // or all ran in another episode
		step := Step{Kind: Hook, Hook: hooks[ran], Number: ran, Run: s.runOf(event, ran)}
		// What has an end and has come to it is not run again. What has none may have been
		// deleted when a later one failed, which needs it.
		if ran < done && hooks[ran].Works {
			step.Run = ""
		}
		return step, true
	}
	return Step{Kind: Tidy, Hook: hooks[0], Number: len(hooks)}, true
}

// runOf names a run of a hook.
func (s *State) runOf(event string, number int) string {
	return fmt.Sprintf("%s/%s/%d/%d", s.Sync.ID, event, number, s.Sync.Attempt)
}

// afterFailedHook tidies up, and then takes the failure in.
func (s *State) afterFailedHook() Step {
	if !s.Work.Tidied {
		return Step{Kind: Tidy, Hook: wire.AddonHook{Event: s.Work.Event}}
	}
	return Step{Kind: Stumble, Message: s.Work.HookFailed}
}

// completed is the status after a sync.
func (s *State) completed(c wire.AddonClaim, now time.Time) Step {
	health, inventory := s.Work.Preview.Health, s.Stored.Sets.Inventory
	if a := s.Work.Applied; a != nil {
		health, inventory = a.Health, a.Inventory
	}
	status := s.synced(c, health, inventory)
	return s.finished(status, now)
}

// finished tells of a sync that has come to its end.
func (s *State) finished(status wire.AddonStatus, now time.Time) Step {
	p := s.Work.Preview
	status.LastSynced = seconds(now)
	status.Sequence = s.Stored.Sequence + 1
	end := s.ended(wire.OutcomeSucceeded, cmp.Or(p.Summary, "nothing had to change"), now)
	if s.Stored.AppliedHash == p.Hash && p.Writes > 0 && s.Sync != nil && s.Sync.Approver == (wire.Approver{}) {
		end.Message = "healed: " + end.Message
	}
	return Step{Kind: Publish, Status: status, Render: p.Render, Ended: &end, Done: true}
}

// ended is the end of the sync under way.
func (s *State) ended(outcome, message string, now time.Time) wire.AddonSyncEnd {
	end := wire.AddonSyncEnd{At: seconds(now), Outcome: outcome, Message: clip(message)}
	p := s.Work.Preview
	if p != nil {
		end.Revision = p.Revision
	}
	if s.Sync != nil && (p == nil || s.Sync.Hash == p.Hash) { // not one of another content, which was given up
		end.PlanHash, end.Approver = s.Sync.PlanHash, s.Sync.Approver
	}
	return end
}

// count takes in that a hook has succeeded.
func (s *State) count(event string, number int) {
	if before(event) {
		s.Sync.Pre = max(s.Sync.Pre, number+1)
	} else {
		s.Sync.Post = max(s.Sync.Post, number+1)
	}
}
