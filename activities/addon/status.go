package addon

import (
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// unshown begins what publish adds to a message. A workflow does not see it.
const unshown = " (not shown, for the set store has lost it: "

// toStatus is what w says, without lists, which are not in it.
func toStatus(w wire.AddonStatus) addons.AddonStatus {
	s := addons.AddonStatus{
		Phase:              addons.Phase(w.Phase),
		Message:            w.Message,
		ObservedGeneration: w.ObservedGeneration,
		ObservedInputs:     w.ObservedInputs,
		Sequence:           w.Sequence,
		Revision:           w.Revision,
		Plan:               toPlan(w),
		Adopted:            w.Adopted,
		AppliedHash:        w.AppliedHash,
		LastSynced:         toTime(w.LastSynced),
		AppliedSyncRequest: w.AppliedSyncRequest,
		Sync:               toProgress(w.Sync),
	}
	if w.Version != "" || w.Digest != "" {
		s.Resolved = &addons.Resolved{Version: w.Version, Digest: w.Digest}
	}
	if w.Sets != (wire.AddonSets{}) {
		s.Sets = &addons.Sets{Plan: w.Sets.Plan, Render: w.Sets.Render, Inventory: w.Sets.Inventory}
	}
	if w.Health.Status != "" {
		s.Health = &addons.Health{Status: addons.HealthStatus(w.Health.Status), Message: w.Health.Message}
	}
	return s
}

func toPlan(w wire.AddonStatus) *addons.Plan {
	if w.PlanHash == "" && w.Counts == (wire.AddonCounts{}) {
		return nil
	}
	return &addons.Plan{
		Hash: w.PlanHash, Create: w.Counts.Create, Update: w.Counts.Update, Replace: w.Counts.Replace,
		Prune: w.Counts.Prune, Unchanged: w.Counts.Unchanged, Unverified: w.Counts.Unverified,
	}
}

func toProgress(w *wire.AddonSync) *addons.SyncProgress {
	if w == nil {
		return nil
	}
	return &addons.SyncProgress{
		ID: w.ID, Lifecycle: w.Lifecycle, Hash: w.Hash, PlanHash: w.PlanHash,
		Who: w.Approver.Name, Verified: w.Approver.Verified,
		Pre: toInt32(w.Pre), Applied: w.Applied, Post: toInt32(w.Post), Tidied: w.Tidied, Attempt: toInt32(w.Attempt),
	}
}

// fromStatus is what toStatus and the API server made of a wire.AddonStatus.
func fromStatus(s *addons.AddonStatus) wire.AddonStatus {
	message, _, _ := strings.Cut(s.Message, unshown)
	w := wire.AddonStatus{
		Sequence:           s.Sequence,
		Phase:              string(s.Phase),
		Message:            message,
		ObservedGeneration: s.ObservedGeneration,
		ObservedInputs:     s.ObservedInputs,
		Revision:           s.Revision,
		Adopted:            s.Adopted,
		AppliedHash:        s.AppliedHash,
		AppliedSyncRequest: s.AppliedSyncRequest,
		Sync:               fromProgress(s.Sync),
	}
	if s.Resolved != nil {
		w.Version, w.Digest = s.Resolved.Version, s.Resolved.Digest
	}
	if p := s.Plan; p != nil {
		w.PlanHash = p.Hash
		w.Counts = wire.AddonCounts{
			Create: p.Create, Update: p.Update, Replace: p.Replace,
			Prune: p.Prune, Unchanged: p.Unchanged, Unverified: p.Unverified,
		}
	}
	if s.Sets != nil {
		w.Sets = wire.AddonSets{Plan: s.Sets.Plan, Render: s.Sets.Render, Inventory: s.Sets.Inventory}
	}
	if s.Health != nil {
		w.Health = wire.AddonHealth{Status: string(s.Health.Status), Message: s.Health.Message}
	}
	if s.LastSynced != nil {
		w.LastSynced = s.LastSynced.UTC()
	}
	return w
}

func fromProgress(s *addons.SyncProgress) *wire.AddonSync {
	if s == nil {
		return nil
	}
	return &wire.AddonSync{
		ID: s.ID, Lifecycle: s.Lifecycle, Hash: s.Hash, PlanHash: s.PlanHash,
		Approver: wire.Approver{Name: s.Who, Verified: s.Verified},
		Pre:      int(s.Pre), Applied: s.Applied, Post: int(s.Post), Tidied: s.Tidied, Attempt: int(s.Attempt),
	}
}

// says tells whether a stored status is what w was made into.
func says(stored *addons.AddonStatus, w wire.AddonStatus) bool {
	was, is := toStatus(fromStatus(stored)), toStatus(w)
	is.Fit()
	return equality.Semantic.DeepEqual(was, is)
}

func toTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	// The API server keeps seconds; so does what is compared with it.
	m := metav1.NewTime(t.Truncate(time.Second))
	return &m
}

func toInt32(n int) int32 {
	return int32(min(max(n, 0), math.MaxInt32)) // #nosec G115 -- within its bounds
}
