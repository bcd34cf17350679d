package proxy

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

// describe builds the status that says v of s and want. Sequence is left as it
// is: a status that says nothing new is not published.
func describe(s State, want wire.Claim, v view, now time.Time) wire.ProxyStatus {
	status := wire.ProxyStatus{
		Sequence:           s.Stored.Sequence,
		Phase:              v.phase,
		ObservedGeneration: want.Generation,
		ObservedInputs:     want.Inputs,
		ObservedReplace:    s.ReplaceSeen,
		Ledger:             s.entries(),
		Recreations:        s.Recreations,
	}
	var health *wire.Health
	serving := false
	cur := s.shown(want)
	if v.phase == wire.PhaseDraining {
		cur = s.find(v.step.Entry) // whose leases go on, wherever the next one will live
	}
	if e := s.endpoint(want, v, cur); e != nil {
		status.Host, status.Port = e.Host, e.Port
		serving, health = true, s.healthOf(0)
	} else if cur != nil {
		health = s.healthOf(cur.Incarnation)
		// An instance that is about to be deleted takes no more clients.
		if serving = s.serving(cur) && v.phase != wire.PhaseReplacing && v.phase != wire.PhaseDeleting; serving {
			s.locate(&status, want, cur)
		}
	}
	if s.Version >= 3 && !serving { // what was found out about one that is gone says nothing
		health = nil
	}
	if health != nil {
		status.LatencyMillis, status.ExitIP, status.ProbedAt = health.LatencyMillis, fit(health.ExitIP), health.ProbedAt.Truncate(time.Second)
	}
	status.Conditions = s.conditions(now, v.phase, provisioned(serving, v), healthy(health))
	return status
}

// endpoint is that of somebody else's proxy, nil for one of our own.
func (s *State) endpoint(want wire.Claim, v view, cur *Record) *wire.Endpoint {
	switch {
	case v.phase == wire.PhaseDraining, s.frozen(want) && cur != nil:
		return nil
	case s.frozen(want) && s.Stored.Host != "":
		return &wire.Endpoint{Host: s.Stored.Host, Port: s.Stored.Port}
	case want.External:
		return want.Endpoint
	}
	return nil
}

// serving says whether clients can be sent to cur: the provider says so, or said so
// before and has no word against it.
func (s *State) serving(cur *Record) bool {
	if cur == nil || cur.Deleting {
		return false
	}
	switch cur.Seen.State {
	case wire.StateRunning:
		return true
	case wire.StateProvisioning, wire.StateUnknown: // a node that is silent for a while
		return s.Version >= 3 && s.Stored.Host != ""
	case "":
		return !cur.Fresh && s.Stored.Host != ""
	}
	return false
}

// locate writes where the serving instance answers.
func (s *State) locate(status *wire.ProxyStatus, want wire.Claim, cur *Record) {
	status.ProviderID, status.Host, status.Port = cur.Seen.ProviderID, cur.Seen.Host, cur.Seen.Port
	if cur.Seen.State != wire.StateRunning {
		status.ProviderID, status.Host, status.Port = s.Stored.ProviderID, s.Stored.Host, s.Stored.Port
	}
	status.SpecHash = cur.Hash
	// An instance asks for what it was made with, until it is made anew.
	status.CredentialsVersion = s.Stored.CredentialsVersion
	if want.Hash == cur.Hash {
		status.CredentialsVersion = want.CredentialsVersion
	}
}

func provisioned(serving bool, v view) wire.Condition {
	c := wire.Condition{Type: wire.ConditionProvisioned, Status: wire.False, Reason: v.reason, Message: v.msg}
	if serving {
		c.Status = wire.True
	}
	return c
}

func healthy(h *wire.Health) wire.Condition {
	c := wire.Condition{Type: wire.ConditionHealthy, Status: wire.Unknown, Reason: wire.ReasonNotProbed}
	if h == nil {
		return c
	}
	c.Status, c.Reason, c.Message = wire.False, h.Reason(), h.Message
	if h.Healthy {
		c.Status = wire.True
	}
	return c
}

// ready sums the others up. Where something else than the instance itself is the matter,
// such as what the proxy waits for, that is the reason. One that drains serves its
// leaseholders and nobody new. Bans matter only while nothing is wrong with the probes.
func (s *State) ready(phase string, up, well wire.Condition) wire.Condition {
	matter := up.Reason != wire.ReasonCreated && up.Reason != wire.ReasonExternal
	bans := up.Reason == wire.ReasonBanned || up.Reason == wire.ReasonSameAddress
	because := func(c wire.Condition, status string) wire.Condition {
		return wire.Condition{Type: wire.ConditionReady, Status: status, Reason: c.Reason, Message: c.Message}
	}
	switch {
	case up.Status != wire.True, phase == wire.PhaseDraining, well.Status != wire.True && matter && !bans && s.Version >= 3:
		return because(up, wire.False)
	case well.Status != wire.True:
		return because(well, wire.False)
	case matter && s.Version >= 2:
		return because(up, wire.True)
	}
	return wire.Condition{Type: wire.ConditionReady, Status: wire.True, Reason: wire.PhaseReady}
}

// conditions keeps the time since when each has had its state.
func (s *State) conditions(now time.Time, phase string, up, well wire.Condition) []wire.Condition {
	cs := []wire.Condition{up, well, s.ready(phase, up, well)}
	for i := range cs {
		cs[i].Message = fit(cs[i].Message)
		cs[i].Since = now.Truncate(time.Second)
		if o := condition(s.Stored.Conditions, cs[i].Type); o != nil && o.Status == cs[i].Status {
			cs[i].Since = o.Since
		}
	}
	return cs
}

// maxMessage keeps a message well under what the API server takes, in bytes.
const maxMessage = 1024

func fit(msg string) string {
	return strings.ToValidUTF8(msg[:min(len(msg), maxMessage)], "")
}

func condition(cs []wire.Condition, t string) *wire.Condition {
	for i := range cs {
		if cs[i].Type == t {
			return &cs[i]
		}
	}
	return nil
}

// equal says whether two statuses say the same. Times go through the API server,
// which keeps seconds and another location.
func equal(a, b wire.ProxyStatus) bool {
	if !slices.EqualFunc(a.Ledger, b.Ledger, sameEntry) || !slices.EqualFunc(a.Recreations, b.Recreations, time.Time.Equal) || !slices.EqualFunc(a.Conditions, b.Conditions, sameCondition) || !a.ProbedAt.Equal(b.ProbedAt) {
		return false
	}
	for _, s := range []*wire.ProxyStatus{&a, &b} { // what is left compares field by field
		s.Sequence, s.ProbedAt, s.Ledger, s.Recreations, s.Conditions = 0, time.Time{}, nil, nil, nil
	}
	return reflect.DeepEqual(a, b)
}

func sameEntry(a, b wire.Entry) bool {
	until := a.AttemptUntil.Equal(b.AttemptUntil)
	a.AttemptUntil, b.AttemptUntil = time.Time{}, time.Time{}
	return a == b && until
}

func sameCondition(a, b wire.Condition) bool {
	a.Since, b.Since = time.Time{}, time.Time{}
	return a == b
}

// healthPhase is the phase of a proxy that is up.
func healthPhase(h *wire.Health) string {
	switch {
	case h == nil:
		return wire.PhaseProvisioning
	case h.Healthy:
		return wire.PhaseReady
	default:
		return wire.PhaseUnhealthy
	}
}

// reasonOf is the reason that people read of a failure.
func reasonOf(t *Trouble) string {
	switch t.Type {
	case wire.FailureQuota:
		return wire.ReasonQuota
	case wire.FailurePermanent:
		return wire.ReasonPermanent
	case wire.FailureProviderUnavailable:
		return wire.ReasonUnavailable
	default:
		return wire.ReasonTransient
	}
}
