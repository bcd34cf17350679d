package proxy

import (
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

func decideManaged(s State, want wire.Claim, now time.Time) view {
	cur := s.current(want)
	switch {
	case want.Problem != nil:
		return decideProblem(s, s.shown(want), want.Problem)
	case s.Trouble != nil && s.Trouble.Type == wire.FailurePermanent:
		return view{wire.PhaseFailed, wire.ReasonPermanent, s.Trouble.Message, Step{Kind: Park}}
	}
	if r := s.stray(cur); r != nil {
		return troubled(s, retire(s, want, r, now, r.Name+" at "+where(r.Entry)+" goes: the proxy lives elsewhere now"))
	}
	if cur == nil {
		if until := s.budgetUntil(now); until.After(now) {
			return decideBudget(until)
		}
		return view{wire.PhaseProvisioning, wire.ReasonProvisioning, "", Step{Kind: Enter, Entry: newEntry(s, want, now)}}
	}
	return troubled(s, decideCurrent(s, want, cur, now))
}

// decideProblem keeps a running instance in service while the desired state
// cannot be acted on.
func decideProblem(s State, cur *Record, p *wire.Problem) view {
	v := view{wire.PhaseFailed, p.Reason, p.Message, Step{Kind: Park}}
	switch {
	case p.Reason == wire.ReasonUnavailable:
		v.phase = wire.PhaseWaiting
	case cur != nil && cur.Seen.State == "" && !cur.Fresh:
		v.step = step(s, Get, cur)
	case cur != nil && s.Look && s.Version >= 3:
		v.step = step(s, Get, cur)
		if s.serving(cur) {
			v.phase = healthPhase(s.healthOf(cur.Incarnation))
		}
	case s.serving(cur):
		v.phase = healthPhase(s.healthOf(cur.Incarnation))
	}
	return v
}

// decideCurrent is the life of the one instance that the proxy should have.
func decideCurrent(s State, want wire.Claim, cur *Record, now time.Time) view {
	switch {
	case cur.Deleting:
		reason, why := toldWhy(s)
		return view{wire.PhaseReplacing, reason, s.still(cur, why, now), removal(s, cur)}
	case hashVersion(cur.Hash) != hashVersion(want.Hash):
		// A hash of another version, or none, proves no difference. The Create that
		// follows finds the instance and makes it ours.
		adopted := renewed(cur.Entry, s.Trouble != nil, now)
		adopted.Hash = want.Hash
		return view{step: Step{Kind: Enter, Entry: adopted}}
	case cur.Hash != want.Hash:
		return retire(s, want, cur, now, "the spec or a Secret changed")
	case want.Replace != "" && want.Replace != s.ReplaceSeen:
		return retireAsked(s, want, cur, now)
	case cur.Fresh:
		return decideCreate(s, cur, now)
	case cur.Seen.State == "":
		return look(s, cur)
	}
	return decideSeen(s, want, cur, now)
}

// toldWhy is why the instance is being replaced, as it was told when that began.
func toldWhy(s State) (reason, why string) {
	c := condition(s.Stored.Conditions, wire.ConditionProvisioned)
	if c == nil || c.Reason != wire.ReasonReplacing && c.Reason != wire.ReasonBanned {
		if s.Version < 2 {
			return wire.ReasonReplacing, ""
		}
		return wire.ReasonReplacing, "the former instance is being deleted"
	}
	why, _, _ = strings.Cut(c.Message, afterWhy)
	return c.Reason, why
}

// afterWhy is between the reason of a replacement and what holds it up.
const afterWhy = "; "

// still adds to msg what a deletion waits for, where that takes long.
func (s *State) still(r *Record, msg string, now time.Time) string {
	switch {
	case s.Version >= 2 && r.Deleting && s.attemptUntil(r).After(now):
		return msg + afterWhy + "an attempt to create it may still run until " + s.attemptUntil(r).UTC().Format(time.TimeOnly) + " UTC"
	case r.Waits > 0 && r.Sent:
		return msg + afterWhy + "the instance is still there: " + r.Seen.Message
	}
	return msg
}

// attemptUntil is how long a deletion of r has to wait for an attempt.
func (s *State) attemptUntil(r *Record) time.Time {
	if s.Version >= 3 && r.Fresh {
		return r.LostUntil
	}
	return r.AttemptUntil
}

func decideCreate(s State, cur *Record, now time.Time) view {
	v := view{wire.PhaseProvisioning, wire.ReasonProvisioning, "creating " + cur.Name + " at " + where(cur.Entry), step(s, Create, cur)}
	if s.serving(cur) { // adopted, or started again
		v.phase = healthPhase(s.healthOf(cur.Incarnation))
	}
	if cur.AttemptUntil.Sub(now) < window(v.step.Quiet) {
		return view{step: Step{Kind: Enter, Entry: renewed(cur.Entry, v.step.Quiet, now)}}
	}
	return v
}

func decideSeen(s State, want wire.Claim, cur *Record, now time.Time) view {
	switch cur.Seen.State {
	case wire.StateRunning:
		if s.Look {
			return look(s, cur)
		}
		return decideUp(s, want, cur)
	case wire.StateStopped:
		return view{wire.PhaseReplacing, wire.ReasonReplacing, "the instance stopped: " + cur.Seen.Message, removal(s, cur)}
	case wire.StateHalted:
		return view{step: Step{Kind: Enter, Entry: renewed(cur.Entry, false, now)}}
	case wire.StateGone:
		if cur.AttemptUntil.After(now) { // a lost attempt may still land: the same name, so the same instance
			return view{step: Step{Kind: Enter, Entry: renewed(cur.Entry, false, now)}}
		}
		return view{wire.PhaseReplacing, wire.ReasonReplacing, "the instance vanished", step(s, Vanish, cur)}
	default:
		v := view{wire.PhaseProvisioning, wire.ReasonProvisioning, cur.Seen.Message, step(s, Settle, cur)}
		if s.serving(cur) { // it may serve all the same: its probes tell
			v.phase = healthPhase(s.healthOf(cur.Incarnation))
		}
		return v
	}
}

// removal deletes an instance and waits until it is gone. One delete is in flight
// at a time.
func removal(s State, r *Record) Step {
	if r.Fresh { // nothing was sent since there was room made for it
		unsent := *r
		unsent.AttemptUntil = r.LostUntil
		r = &unsent
	}
	if r.Deleting {
		return step(s, Vanish, r)
	}
	return step(s, Delete, r)
}

// look asks the provider, and tells meanwhile what was told before.
func look(s State, cur *Record) view {
	v := view{wire.PhaseProvisioning, wire.ReasonProvisioning, "looking at " + cur.Name, step(s, Get, cur)}
	if s.serving(cur) {
		v.phase, v.reason = healthPhase(s.healthOf(cur.Incarnation)), wire.ReasonCreated
	}
	return v
}

func step(s State, k StepKind, r *Record) Step {
	return Step{Kind: k, Entry: r.Entry, Quiet: s.Trouble != nil}
}

// troubled tells why the provider refused, on top of what is being tried.
func troubled(s State, v view) view {
	switch v.step.Kind {
	case Enter, Park, Drain, Rest, Count, Condemn: // nothing that could be refused
		return v
	}
	if s.Trouble == nil {
		return v
	}
	v.reason, v.msg = reasonOf(s.Trouble), s.Trouble.Message
	switch v.reason {
	case wire.ReasonQuota, wire.ReasonUnavailable:
		v.phase = wire.PhaseWaiting
	}
	return v
}
