package addon

import (
	"example.com/fairlead/activities/addon/look"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// atRest says whether nothing will wake the workflow of a but a sweep. Others are being looked
// after already, or must be left alone.
func atRest(a *addons.Addon) bool {
	if !a.DeletionTimestamp.IsZero() || a.Suspended() {
		return false
	}
	switch a.Status.Phase {
	case addons.PhaseSyncing, addons.PhaseUninstalling, // at work
		addons.PhaseError,       // tries again by itself
		addons.PhasePending, "": // waits for others, whose changes wake it, or for its first look
		return false
	}
	return true
}

// differs says whether a look saw something that the status does not tell.
func differs(a *addons.Addon, seen *look.Look) bool {
	preview := previewOf(seen)
	now := addons.AddonStatus{
		Revision: preview.Revision,
		Resolved: &addons.Resolved{Version: preview.Version, Digest: preview.Digest},
		Plan:     &addons.Plan{Hash: preview.PlanHash},
		Health:   &addons.Health{Status: addons.HealthStatus(preview.Health.Status)},
	}
	now.Fit() // as the status is
	return glanceOf(&a.Status) != glanceOf(&now) || contentMoved(&a.Status, preview.Hash) || gateMoved(a.Status.Phase, seen)
}

// glance is what of a status moves without a sync.
type glance struct {
	revision, version, digest, plan string
	health                          addons.HealthStatus
}

func glanceOf(s *addons.AddonStatus) glance {
	g := glance{revision: s.Revision}
	if s.Resolved != nil {
		g.version, g.digest = s.Resolved.Version, s.Resolved.Digest
	}
	if s.Plan != nil {
		g.plan = s.Plan.Hash
	}
	if s.Health != nil {
		g.health = s.Health.Status
	}
	return g
}

// contentMoved says whether what was applied is not what is wished for, although nothing has
// to be done for that. What waits to be applied is told by its plan.
func contentMoved(s *addons.AddonStatus, hash string) bool {
	return s.Phase == addons.PhaseSynced && s.AppliedHash != hash
}

// gateMoved says whether a plan became one that must not be done, or is that no more. The
// same plan may: whose an object is does not count in its hash.
func gateMoved(phase addons.Phase, seen *look.Look) bool {
	if phase == addons.PhaseBlocked {
		return seen.Blocked == "" && seen.Adopts == ""
	}
	return seen.Blocked != ""
}
