package proxy

import (
	"slices"
	"time"

	"example.com/fairlead/temporal/wire"
)

// Version of the plan that new runs follow. A run keeps the one that it was started
// with: whatever changes a status or a step, a message too, changes what is published,
// and would not replay what is under way. Such a change asks State.Version, and raises
// this number.
//
//	2: a wait for a lost attempt is told; Ready=True tells what else is the matter
const Version = 2

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
	// Refused is the status that the API server refused for good.
	Refused *wire.ProxyStatus `json:"refused,omitempty"`
	// Look asks for a look at the instance: something hinted that it changed.
	Look bool `json:"look,omitempty"`
}

// Record is a ledger entry with what was seen of its instance.
type Record struct {
	wire.Entry
	// Fresh: its Create may run now; the entry is written or about to be.
	Fresh bool `json:"fresh,omitempty"`
	// Sent: a Create was sent to the provider.
	Sent bool `json:"sent,omitempty"`
	// LostUntil is the time until which an attempt may still run that nobody waits for
	// any more; no later attempt says anything about it.
	LostUntil time.Time `json:"lostUntil,omitzero"`
	// Waits counts the waits for it that ended without what was waited for.
	Waits int `json:"waits,omitempty"`
	// Seen is the provider's last word; State is empty before the first look.
	Seen wire.Instance `json:"seen"`
	// Deleting: the provider accepted the deletion.
	Deleting bool `json:"deleting,omitempty"`
	// Disowned: the provider was asked to take our marks off it.
	Disowned bool `json:"disowned,omitempty"`
}

// DrainWait is the wait for the last lease of an instance.
type DrainWait struct {
	Incarnation int64     `json:"incarnation"`
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

// merge takes in what was read from the object. The ledger becomes the union of
// both sides: neither can have lost an instance that the other knows of.
func (s *State) merge(c wire.Claim, now time.Time) {
	if s.ClusterID == "" {
		s.ClusterID = c.ClusterID
	}
	if c.Gone || c.ClusterID != s.ClusterID {
		return
	}
	// Not what this workflow wrote: another one did, or a backup was restored.
	if c.Stored.Sequence != s.Stored.Sequence || !equal(c.Stored, s.Stored) {
		s.takeOver(c, now)
	}
	s.heedEdits(c)
	// Another proxy has no verdict yet; that of a new one may come before its first
	// status.
	if e := c.Endpoint; e != nil && s.Stored.Host != "" && (e.Host != s.Stored.Host || e.Port != s.Stored.Port) {
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

// unite takes an entry into the ledger. A provider knows an instance by place and
// name: of two entries about the same one, the newer incarnation is it.
func (s *State) unite(e wire.Entry) {
	there := slices.IndexFunc(s.Ledger, func(r Record) bool {
		return r.Provider == e.Provider && r.Place == e.Place && r.Name == e.Name
	})
	theirs := Record{Entry: e, Sent: true, LostUntil: e.AttemptUntil}
	if there < 0 {
		s.Ledger = append(s.Ledger, theirs)
		return
	}
	r := &s.Ledger[there]
	if e.Incarnation > r.Incarnation {
		theirs.LostUntil = later(theirs.LostUntil, r.AttemptUntil)
		*r = theirs
	} else {
		r.LostUntil = later(r.LostUntil, e.AttemptUntil)
	}
	r.AttemptUntil = later(r.AttemptUntil, r.LostUntil)
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

// lostAttemptEnds is when an attempt that began before now must have ended.
func lostAttemptEnds(now time.Time) time.Time {
	return now.Add(wire.CreateAttempt + wire.AttemptSlack + time.Second).Truncate(time.Second)
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

// see takes in what the provider said. The hash is the one that the instance was
// made with, whatever the ledger had hoped for; one of another version proves no
// difference.
func (r *Record) see(i wire.Instance) {
	r.Seen = i
	if i.Hash != "" && (r.Hash == "" || hashVersion(i.Hash) == hashVersion(r.Hash)) {
		r.Hash = i.Hash
	}
}

// lose notes that nobody waits any more for an attempt that may be running.
func (r *Record) lose(now time.Time) {
	r.LostUntil = later(r.LostUntil, earlier(r.AttemptUntil, lostAttemptEnds(now)))
}

// lose notes that for every instance.
func (s *State) lose(now time.Time) {
	for i := range s.Ledger {
		s.Ledger[i].lose(now)
	}
}

func (s *State) find(e wire.Entry) *Record {
	for i := range s.Ledger {
		if s.Ledger[i].Same(e) {
			return &s.Ledger[i]
		}
	}
	return nil
}

// drop forgets an instance that the provider confirmed to be gone.
func (s *State) drop(e wire.Entry, now time.Time) {
	if r := s.find(e); r != nil && (r.Seen.State == wire.StateStopped || r.Seen.State == wire.StateGone) {
		s.lost(now)
	}
	s.Ledger = slices.DeleteFunc(s.Ledger, func(r Record) bool { return r.Same(e) })
}

// enter writes e into the ledger of the state, from where it is published before
// its Create may run.
func (s *State) enter(e wire.Entry, want wire.Claim) {
	if r := s.find(e); r != nil {
		r.Entry, r.Fresh = e, !e.AttemptUntil.IsZero()
		r.AttemptUntil = later(r.AttemptUntil, r.LostUntil)
		return
	}
	s.Ledger = append(s.Ledger, Record{Entry: e, Fresh: true})
	s.Health, s.Drain, s.ReplaceSeen = nil, nil, want.Replace
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

// current is the newest record that lives where want says a proxy should live; at
// its provider, when the places there cannot be known.
func (s *State) current(want wire.Claim) *Record {
	var cur *Record
	for i := range s.Ledger {
		r := &s.Ledger[i]
		if r.Provider == want.Provider && (len(want.Places) == 0 || slices.Contains(want.Places, r.Place)) && (cur == nil || r.Incarnation > cur.Incarnation) {
			cur = r
		}
	}
	return cur
}

// stray is a record that is not cur: left behind by an edit of provider or place.
func (s *State) stray(cur *Record) *Record {
	for i := range s.Ledger {
		if r := &s.Ledger[i]; r != cur {
			return r
		}
	}
	return nil
}

// entries are the entries to publish.
func (s *State) entries() []wire.Entry {
	var out []wire.Entry
	for _, r := range s.Ledger {
		out = append(out, r.Entry)
	}
	return out
}

func newest(ledger []wire.Entry) *wire.Entry {
	var n *wire.Entry
	for i := range ledger {
		if n == nil || ledger[i].Incarnation > n.Incarnation {
			n = &ledger[i]
		}
	}
	return n
}
