package proxy

import (
	"time"

	"example.com/fairlead/temporal/wire"
)

// Version of the plan that new runs follow. A run keeps the one that it was started
// with: whatever changes a status or a step, a message too, changes what is published,
// and would not replay what is under way. Such a change asks State.Version, and raises
// this number.
//
//	2: a wait for a lost attempt is told; Ready=True tells what else is the matter
//	3: an address stays while the provider has no word against its instance, while
//	   nothing may be done about it, and while the proxy is paused; what died meanwhile is
//	   seen without the Secret that a new one needs
//	4: a banned address is replaced; the api's hints are heeded only where one may be, or
//	   the last lease is waited for
const Version = 4

// Input starts the workflow, and each of its runs after the first.
type Input struct {
	Proxy wire.ProxyRef `json:"proxy"`
	// Version of the plan; 0 is that of before there was a number, which is 1.
	Version int `json:"version,omitempty"`
	// State is what the run before left; nil for the first run.
	State *State `json:"state,omitempty"`
	// Dirty: the run before had not acted on its last signals yet.
	Dirty bool `json:"dirty,omitempty"`
}

// State is what the workflow carries from run to run. All of it that matters can
// be had again from the object and the provider: a terminated workflow loses
// nothing.
type State struct {
	// Version of the plan that this run follows.
	Version   int    `json:"version"`
	ClusterID string `json:"clusterID,omitempty"`
	// Stored is the status that is known to be on the object.
	Stored wire.ProxyStatus `json:"stored"`
	// Ledger holds every instance that exists or may exist.
	Ledger []Record `json:"ledger,omitempty"`
	// ReplaceSeen is the value of the replace annotation that the newest instance
	// answers to.
	ReplaceSeen string       `json:"replaceSeen,omitempty"`
	Health      *wire.Health `json:"health,omitempty"`
	Trouble     *Trouble     `json:"trouble,omitempty"`
	// Drain is the wait for the last lease of an instance that is to be replaced.
	Drain *DrainWait `json:"drain,omitempty"`
	// Recreations are the last times at which the instance was lost by itself.
	Recreations []time.Time `json:"recreations,omitempty"`
	// Sent is the status that was sent last: an answer that was lost, or not waited for, does
	// not make it another writer's.
	Sent *wire.ProxyStatus `json:"sent,omitempty"`
	// Refused is the status that the API server refused for good.
	Refused *wire.ProxyStatus `json:"refused,omitempty"`
	// Bans is the limit of banned reports, as last claimed; nil for none.
	Bans *wire.BanLimit `json:"bans,omitempty"`
	// Suspicion that the address was banned; nil for none.
	Suspicion *Suspicion `json:"suspicion,omitempty"`
	// Look asks for a look at the instance: something hinted that it changed.
	Look bool `json:"look,omitempty"`
}

// DrainWait is the wait for the last lease of an instance.
type DrainWait struct {
	Incarnation int64     `json:"incarnation"`
	Since       time.Time `json:"since,omitzero"`
	Until       time.Time `json:"until"`
	// Done: the last lease ended before that.
	Done bool `json:"done,omitempty"`
}

// Trouble is why the last call to a provider failed.
type Trouble struct {
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
	// Config of the provider that failed.
	Config string `json:"config,omitempty"`
}

// ofEndpoint says whether the verdict may be about somebody else's proxy.
func (s *State) ofEndpoint() bool {
	return s.Version < 3 || s.Health == nil || s.Health.Incarnation == 0
}

// frozen says whether everything is to stay as it is.
func (s *State) frozen(want wire.Claim) bool {
	return s.Version >= 3 && want.Paused && !want.Deleting
}

// merge takes in what was read from the object. The ledger becomes the union of
// both sides: neither can have lost an instance that the other knows of.
func (s *State) merge(c wire.Claim, now time.Time) {
	if s.ClusterID == "" {
		s.ClusterID = c.ClusterID
	}
	if c.Gone || c.ClusterID != s.ClusterID {
		return
	}
	s.recognize(c.Stored)
	// Not what this workflow wrote: another one did, or a backup was restored.
	if c.Stored.Sequence != s.Stored.Sequence || !equal(c.Stored, s.Stored) {
		s.takeOver(c, now)
	}
	s.heedEdits(c)
	s.heedLimit(c.Bans)
	if e := c.Endpoint; e != nil && !s.frozen(c) && s.ofEndpoint() {
		s.heedEndpoint(*e)
	}
}

// recognize takes a status for its own that was sent without hearing an answer.
func (s *State) recognize(stored wire.ProxyStatus) {
	if s.Version >= 3 && s.Sent != nil && s.Sent.Sequence == stored.Sequence && equal(*s.Sent, stored) {
		s.Stored = *s.Sent
	}
}

// heedEndpoint: another proxy has no verdict yet; that of a new one may come before its
// first status.
func (s *State) heedEndpoint(e wire.Endpoint) {
	if s.Stored.Host != "" && (e.Host != s.Stored.Host || e.Port != s.Stored.Port) {
		s.Health = nil
	}
}

// heedEdits forgets what held for former inputs, or for a provider with other
// settings.
func (s *State) heedEdits(c wire.Claim) {
	edited := c.Inputs != s.Stored.ObservedInputs
	if edited {
		s.Recreations = nil // somebody acted: the next one is not by itself
	}
	if edited || s.Trouble != nil && s.Trouble.Config != c.ProviderConfig {
		s.Trouble = nil
	}
}

// takeOver makes a status that this chain of runs did not write its own.
func (s *State) takeOver(c wire.Claim, now time.Time) {
	stored := c.Stored
	if p := condition(stored.Conditions, wire.ConditionProvisioned); s.Trouble == nil && p != nil && stored.Phase == wire.PhaseFailed && p.Reason == wire.ReasonPermanent {
		s.Trouble = &Trouble{Type: wire.FailurePermanent, Message: p.Message, Config: c.ProviderConfig}
	}
	for _, e := range stored.Ledger {
		// Whatever its writer had under way began before now: a former chain of runs, or
		// this run before it was reset.
		e.AttemptUntil = earlier(e.AttemptUntil, lostAttemptEnds(now))
		s.unite(e)
	}
	if stored.Sequence > s.Stored.Sequence {
		s.ReplaceSeen = stored.ObservedReplace
	}
	if s.Health == nil {
		s.Health = healthFrom(stored)
	}
	if len(s.Recreations) == 0 {
		s.Recreations = stored.Recreations
	}
	s.resumeDrain(c)
	stored.Sequence = max(stored.Sequence, s.Stored.Sequence)
	s.Stored = stored
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// healthFrom seeds the verdict from a status that another chain of runs wrote.
func healthFrom(st wire.ProxyStatus) *wire.Health {
	c := condition(st.Conditions, wire.ConditionHealthy)
	if c == nil || c.Status == wire.Unknown {
		return nil
	}
	h := &wire.Health{
		Healthy: c.Status == wire.True, Verdict: c.Reason, Message: c.Message,
		LatencyMillis: st.LatencyMillis, ExitIP: st.ExitIP, ProbedAt: st.ProbedAt,
	}
	if n := newest(st.Ledger); n != nil {
		h.Incarnation = n.Incarnation
	}
	return h
}

// healthOf is the verdict on this incarnation, nil when there is none yet.
func (s *State) healthOf(incarnation int64) *wire.Health {
	if s.Health == nil || s.Health.Incarnation != incarnation {
		return nil
	}
	return s.Health
}

// heed takes in a verdict, and says whether it did. A verdict on an instance that
// is not the newest is old news.
func (s *State) heed(h wire.Health) bool {
	var incarnation int64
	if n := newest(s.entries()); n != nil {
		incarnation = n.Incarnation
	}
	if h.Incarnation != incarnation {
		return false
	}
	s.Health = &h
	s.Look = s.Look || !h.Healthy
	return true
}
