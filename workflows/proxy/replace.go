package proxy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

// Recreations of instances that were lost by themselves: over the budget, something
// kills them faster than recreating helps.
const (
	maxRecreations   = 5
	recreationWindow = time.Hour
)

// retire ends the life of an instance whose place another one is to take: those who
// hold leases of it may go on until the last one ended, or the drain timeout.
func retire(s State, want wire.Claim, r *Record, now time.Time, why string) view {
	if until := s.drainUntil(r, want, now); until.After(now) {
		return view{wire.PhaseDraining, wire.ReasonDraining, why, Step{Kind: Drain, Entry: r.Entry, Until: until}}
	}
	return view{wire.PhaseReplacing, wire.ReasonReplacing, s.still(r, why, now), removal(s, r)}
}

// retireAsked ends the life of an instance that somebody asked to go, the workflow itself
// where the address was banned.
func retireAsked(s State, want wire.Claim, cur *Record, now time.Time) view {
	b, banned := s.banIn(want.Replace)
	if !banned {
		return retire(s, want, cur, now, replaceWords(want.Replace))
	}
	v := retire(s, want, cur, now, b.why())
	v.reason = wire.ReasonBanned
	return v
}

// drainUntil is until when the leases of r are waited for; zero when they are not,
// or no longer. A dead instance has none that matter.
func (s *State) drainUntil(r *Record, want wire.Claim, now time.Time) time.Time {
	if h := s.healthOf(r.Incarnation); !s.serving(r) || h == nil || !h.Healthy {
		return time.Time{}
	}
	d := s.Drain
	if d == nil || d.Incarnation != r.Incarnation {
		return now.Add(want.DrainTimeout)
	}
	switch {
	case d.Done:
		return time.Time{}
	case s.Version >= 3 && !d.Since.IsZero():
		return d.Since.Add(want.DrainTimeout) // it may be edited meanwhile
	}
	return d.Until
}

// resumeDrain goes on with the wait that a former chain of runs had begun.
func (s *State) resumeDrain(c wire.Claim) {
	ready, n := condition(c.Stored.Conditions, wire.ConditionReady), newest(c.Stored.Ledger)
	if s.Drain == nil && c.Stored.Phase == wire.PhaseDraining && ready != nil && n != nil {
		s.Drain = &DrainWait{Incarnation: n.Incarnation, Since: ready.Since, Until: ready.Since.Add(c.DrainTimeout)}
	}
}

// lost notes that the instance was lost by itself.
func (s *State) lost(now time.Time) {
	s.Recreations = append(s.Recreations, now.Truncate(time.Second))
	if more := len(s.Recreations) - maxRecreations - 1; more > 0 {
		s.Recreations = slices.Delete(s.Recreations, 0, more)
	}
}

// budgetUntil is when the next instance may be made.
func (s *State) budgetUntil(now time.Time) time.Time {
	if len(s.Recreations) <= maxRecreations {
		return now
	}
	return s.Recreations[len(s.Recreations)-1-maxRecreations].Add(recreationWindow)
}

func decideBudget(until time.Time) view {
	msg := fmt.Sprintf("%d instances were lost within an hour; the next is made at %s UTC, or at once after an edit or a new value of annotation %s",
		maxRecreations+1, until.UTC().Format(time.TimeOnly), wire.AnnotationReplace)
	return view{wire.PhaseWaiting, wire.ReasonBudget, msg, Step{Kind: Rest, Until: until}}
}

// replaceWords tells why; a reason that somebody gave follows the first space.
func replaceWords(value string) string {
	if strings.HasPrefix(value, wire.MaxAgePrefix) {
		return "older than replacement.maxAge"
	}
	words := "asked for by annotation " + wire.AnnotationReplace
	if _, reason, found := strings.Cut(value, " "); found {
		words += ": " + reason
	}
	return words
}
