package addon

import (
	"fmt"
	"time"

	"example.com/fairlead/temporal/wire"
)

// Next says what to do in a state. It is pure.
func Next(s State, c wire.AddonClaim, now time.Time) Step {
	switch {
	case c.Gone:
		return Step{Kind: End}
	case c.Deleting:
		return nextOfDeletion(s, c, now)
	case c.Suspended:
		return publishOr(s, s.status(c, wire.AddonSuspended, "suspended: nothing but a deletion is acted on"), Step{Kind: Park})
	case c.Problem != "":
		return publishOr(s, s.status(c, wire.AddonError, c.Problem), Step{Kind: Park})
	case c.Waits != "" && !s.Stored.Adopted:
		return publishOr(s, s.status(c, wire.AddonPending, c.Waits), Step{Kind: Park})
	case s.failing(now):
		return s.park(c)
	case s.Work.Done:
		return Step{Kind: Park}
	case s.Work.Preview == nil:
		return Step{Kind: Preview}
	}
	return nextOfPreview(s, c, now)
}

// failing says whether the next try is later.
func (s *State) failing(now time.Time) bool {
	return s.Failure != nil && now.Before(s.Failure.Until)
}

// park waits for the next try, with the failure told.
func (s *State) park(c wire.AddonClaim) Step {
	return publishOr(*s, s.status(c, wire.AddonError, s.Failure.Message), Step{Kind: Park, Until: s.Failure.Until})
}

// nextOfPreview goes through the gates.
func nextOfPreview(s State, c wire.AddonClaim, now time.Time) Step {
	p := s.Work.Preview
	switch {
	case p.Blocked != "":
		return publishOr(s, s.planned(c, wire.AddonBlocked, p.Blocked), Step{Kind: Park})
	case p.Adopts != "" && !c.AllowAdoptChanges && !s.keepsPlan():
		return publishOr(s, s.planned(c, wire.AddonBlocked, p.Adopts), Step{Kind: Park})
	case !s.pending():
		return nextOfNothing(s, c, now)
	case c.Waits != "":
		return publishOr(s, s.planned(c, wire.AddonPending, c.Waits+", then: "+p.Summary), Step{Kind: Park})
	case !s.approved(c):
		return nextOfReview(s, c)
	}
	return nextOfSync(s, c, now)
}

// resumes says whether an approved sync of this very content is unfinished.
func (s *State) resumes() bool {
	return s.Sync != nil && s.Sync.Lifecycle != wire.LifecycleDelete && s.Sync.Hash == s.Work.Preview.Hash && s.Sync.PlanHash != ""
}

// pending says whether there is something to do.
func (s *State) pending() bool {
	p := s.Work.Preview
	if p.Writes > 0 || s.Work.Event != "" { // what ran is told as a sync
		return true
	}
	if !s.resumes() {
		return len(p.Hooks) > 0
	}
	pre, post := split(p.Hooks)
	return s.Sync.Pre < len(pre) || s.Sync.Post < len(post) || len(p.Hooks) > 0 && s.Sync.Tidied != p.Hooks[len(p.Hooks)-1].Event
}

// approved says whether the plan may be done.
func (s *State) approved(c wire.AddonClaim) bool {
	p := s.Work.Preview
	if !c.ManualSync && p.Counts.Replace == 0 && p.Mass == "" {
		return true
	}
	return s.keepsPlan() || s.asked(c)
}

// asked says whether somebody approved this plan: by its hash, or by asking for a sync
// while the status showed it.
func (s *State) asked(c wire.AddonClaim) bool {
	hash := s.Work.Preview.PlanHash
	return hash != "" && (c.Approve == hash || s.requested(c) && s.Stored.PlanHash == hash)
}

// requested says whether a sync was asked for that was not answered yet.
func (s *State) requested(c wire.AddonClaim) bool { return c.SyncRequest > s.Stored.AppliedSyncRequest }

// nextOfNothing is where the cluster is as the source says.
func nextOfNothing(s State, c wire.AddonClaim, now time.Time) Step {
	p := s.Work.Preview
	status := s.synced(c, p.Health, p.Inventory)
	if s.Stored.Adopted && s.Stored.AppliedHash == p.Hash && s.Sync == nil {
		return publishOr(s, status, Step{Kind: Park})
	}
	return s.finished(status, now) // the first sync, or another content, that needs no write
}

// nextOfReview waits for an approval.
func nextOfReview(s State, c wire.AddonClaim) Step {
	p := s.Work.Preview
	message := fmt.Sprintf("waiting for approval of plan %s: %s", p.PlanHash, p.Summary)
	if p.Mass != "" {
		message = p.Mass + "; " + message
	}
	status := s.planned(c, wire.AddonOutOfSync, message)
	if s.requested(c) { // it approved what the status showed, which this is not
		status.AppliedSyncRequest = c.SyncRequest
	}
	return publishOr(s, status, Step{Kind: Park})
}

// publishOr publishes a status that differs from the stored one, or has news beside it.
func publishOr(s State, status wire.AddonStatus, otherwise Step) Step {
	news := len(s.Work.Ran) > 0 || s.Work.Ended != nil
	status.Sequence = s.Stored.Sequence
	if equal(status, s.Stored) && !news {
		return otherwise
	}
	status.Sequence++
	step := Step{Kind: Publish, Status: status}
	if s.Work.Preview != nil {
		step.Render = s.Work.Preview.Render
	}
	return step
}

// split parts hooks into those before the objects and those after.
func split(hooks []wire.AddonHook) (pre, post []wire.AddonHook) {
	for i, h := range hooks {
		if h.Event != hooks[0].Event || !before(h.Event) {
			return hooks[:i], hooks[i:]
		}
	}
	return hooks, nil
}

// before says whether hooks of an event run before the objects.
func before(event string) bool { return len(event) > 4 && event[:4] == "pre-" }
