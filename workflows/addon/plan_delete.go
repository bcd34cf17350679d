package addon

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// nextOfDeletion lets the object go, after its objects if that was asked for.
func nextOfDeletion(s State, c wire.AddonClaim, now time.Time) Step {
	if !c.Uninstall {
		return Step{Kind: Release}
	}
	if c.Problem != "" {
		return publishOr(s, s.status(c, wire.AddonError, c.Problem), Step{Kind: Park})
	}
	if s.failing(now) {
		status := s.status(c, wire.AddonError, s.Failure.Message)
		return publishOr(s, status, Step{Kind: Park, Until: s.Failure.Until})
	}
	if s.Sync == nil || s.Sync.Lifecycle != wire.LifecycleDelete {
		return Step{Kind: Begin, Sync: &wire.AddonSync{Lifecycle: wire.LifecycleDelete}}
	}
	if st := s.Stored.Sync; st == nil || st.ID != s.Sync.ID {
		status := s.status(c, wire.AddonUninstalling, "removing what it has in the cluster")
		return publishOr(s, status, Step{Kind: Park})
	}
	return s.afterProgress(s.nextToRemove(c), c, wire.AddonUninstalling, c.Hooks, "removing what it has in the cluster")
}

// nextToRemove is the next of an uninstall that has begun.
func (s *State) nextToRemove(c wire.AddonClaim) Step {
	if s.Work.HookFailed != "" {
		return s.afterFailedHook()
	}
	pre, post := split(c.Hooks)
	if !s.Sync.Applied {
		if step, ok := s.nextHook(pre, s.Sync.Pre); ok {
			return step
		}
		return Step{Kind: Remove}
	}
	if step, ok := s.nextHook(post, s.Sync.Post); ok {
		return step
	}
	return Step{Kind: Release}
}
