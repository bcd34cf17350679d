package addon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// compose is the status that in is about, after the old one. It also returns the sets that
// are still needed, if these are others now.
func (a *Activities) compose(ctx context.Context, old *addons.AddonStatus, in wire.AddonPublishInput) (addons.AddonStatus, []setstore.Digest, error) {
	s := toStatus(in.Status)
	s.HookRuns = appendRuns(old.HookRuns, in.Ran)
	s.History = appendEnd(old.History, in.Ended)
	s.Conditions = slices.Clone(old.Conditions)
	setReady(&s, metav1.NewTime(a.Now()))
	l := lists{store: a.Store, old: old}
	if err := l.show(ctx, &s, in); err != nil {
		return s, nil, fmt.Errorf("read the sets of Addon %s: %w", in.Addon, err)
	}
	s.Fit()
	tellLost(&s, l.lost)
	return s, l.needed, nil
}

// setReady says whether the objects are as the source says, and work.
func setReady(s *addons.AddonStatus, now metav1.Time) {
	c := metav1.Condition{
		Type: addons.ConditionReady, Status: metav1.ConditionFalse, Reason: string(cmp.Or(s.Phase, addons.PhasePending)),
		Message: s.Message, ObservedGeneration: s.ObservedGeneration, LastTransitionTime: now,
	}
	health := addons.Health{Status: addons.HealthUnknown}
	if s.Health != nil {
		health = *s.Health
	}
	switch {
	case s.Phase != addons.PhaseSynced:
	case health.Status == addons.HealthHealthy:
		c.Status = metav1.ConditionTrue
	default:
		c.Reason, c.Message = string(health.Status), health.Message
	}
	meta.SetStatusCondition(&s.Conditions, c) // it keeps the time unless the status turns
}

// tellLost adds to the message what the status cannot show, if there is room for it.
func tellLost(s *addons.AddonStatus, lost []string) {
	if len(lost) == 0 {
		return
	}
	whole := s.Message + unshown + strings.Join(lost, ", ") + ")"
	fitted := addons.AddonStatus{Message: whole}
	if fitted.Fit(); fitted.Message == whole {
		s.Message = whole
	}
}
