package proxy

import (
	"slices"
	"time"

	"example.com/fairlead/temporal/wire"
)

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
	// Marked: it could not.
	Marked bool `json:"marked,omitempty"`
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

// lostAttemptEnds is when an attempt that began before now must have ended.
func lostAttemptEnds(now time.Time) time.Time {
	return now.Add(wire.CreateAttempt + wire.AttemptSlack + time.Second).Truncate(time.Second)
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

// unserved says whether no provider can be asked about r.
func (s *State) unserved(r *Record, want wire.Claim) bool {
	return s.Version >= 3 && slices.Contains(want.Unserved, r.Provider)
}

// mistaken says whether r, should the provider know it, was only once not found.
func (s *State) mistaken(r *Record) bool {
	return s.Version >= 3 && !r.Deleting && r.Seen.State == wire.StateGone
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
	s.Health, s.Drain, s.Suspicion, s.ReplaceSeen = nil, nil, nil, want.Replace
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

// shown is the record whose instance clients use. As long as nothing may be done about
// it, that is also one that should live elsewhere.
func (s *State) shown(want wire.Claim) *Record {
	cur := s.current(want)
	if n := newest(s.entries()); cur == nil && n != nil && s.Version >= 3 && (want.Problem != nil || s.frozen(want)) {
		cur = s.find(*n)
	}
	return cur
}
