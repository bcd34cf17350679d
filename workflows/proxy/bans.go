package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

// maxBanTries bounds how often a banned address is replaced where the provider gives it
// again.
const maxBanTries = 3

// Suspicion is that the address was banned: a signal hints at it, the api knows.
type Suspicion struct {
	// Until is when the api has been asked for long enough; zero before it is asked.
	Until time.Time `json:"until,omitzero"`
	// Again: another hint came while the api was asked.
	Again bool `json:"again,omitempty"`
	// Counted are the bans of the address, once they are as many as the limit says.
	Counted int `json:"counted,omitempty"`
}

// heedLease takes in that the api has something to say of the leases, and says whether
// anything is to be done about it.
func (s *State) heedLease() bool {
	switch {
	case s.Version < 4, s.Stored.Phase == wire.PhaseDraining:
		return true
	case s.Bans == nil, s.bansTold():
		return false
	case s.Suspicion != nil: // whatever keeps it from being followed up ends with a wake-up
		s.Suspicion.Again = true
		return false
	}
	s.Suspicion = &Suspicion{}
	return true
}

// bansTold says whether the bans of the address are in the status already.
func (s *State) bansTold() bool {
	c := condition(s.Stored.Conditions, wire.ConditionProvisioned)
	return c != nil && (c.Reason == wire.ReasonBanned || c.Reason == wire.ReasonSameAddress)
}

// heedLimit takes in the limit of bans. What was counted held for the world as it was
// claimed before.
func (s *State) heedLimit(limit *wire.BanLimit) {
	s.Bans = limit
	switch {
	case limit == nil:
		s.Suspicion = nil
	case s.Suspicion != nil:
		s.Suspicion.Counted = 0
	}
}

// count takes in the bans of the address.
func (s *State) count(bans int) {
	switch sus := s.Suspicion; {
	case bans >= s.Bans.Count:
		sus.Counted = bans
	case sus.Again:
		s.Suspicion = &Suspicion{}
	default:
		s.Suspicion = nil
	}
}

// ban is what the value of the replace annotation says of a banned address. There it
// survives a terminated workflow, and so does status.observedReplace, which keeps the
// successor from being taken for the answer when it has the same address.
type ban struct {
	// tries to replace the address, the one that is asked for included.
	tries   int
	address string
	words   string
}

func (b ban) value() string {
	return wire.BansPrefix + strconv.Itoa(b.tries) + "/" + b.address + " " + b.words
}

// banIn reads a value; found is false for one that somebody else wrote.
func (s *State) banIn(value string) (b ban, found bool) {
	rest, ours := strings.CutPrefix(value, wire.BansPrefix)
	head, words, _ := strings.Cut(rest, " ")
	tries, address, _ := strings.Cut(head, "/")
	n, err := strconv.Atoi(tries)
	return ban{n, address, words}, s.Version >= 4 && ours && err == nil && address != ""
}

// why is how people read it as the reason of a replacement.
func (b ban) why() string {
	if b.tries > 1 {
		return "the provider gave " + b.address + " again, " + b.words
	}
	return b.address + " was " + b.words
}

func bannedWords(count int, window time.Duration) string {
	return fmt.Sprintf("banned: %d reports within %s", count, window)
}

// decideUp is an instance that runs: it stays unless its address was banned.
func decideUp(s State, want wire.Claim, cur *Record) view {
	v := view{healthPhase(s.healthOf(cur.Incarnation)), wire.ReasonCreated, "", Step{Kind: Park}}
	if s.Version < 4 || want.Bans == nil {
		return v
	}
	b, banned := s.banIn(s.ReplaceSeen)
	switch again := banned && s.leavesBy(cur, b.address); {
	case again && b.tries >= maxBanTries:
		v.reason = wire.ReasonSameAddress
		v.msg = fmt.Sprintf("the provider gives the same address again: %s, %s; it was replaced %d times, a new value of annotation %s tries again",
			b.address, b.words, b.tries, wire.AnnotationReplace)
	case again:
		b.tries++
		v.step = Step{Kind: Condemn, Entry: cur.Entry, Value: b.value()}
	case s.Suspicion == nil:
	case s.Suspicion.Counted >= want.Bans.Count:
		b = ban{1, s.exit(cur), bannedWords(s.Suspicion.Counted, want.Bans.Window)}
		v.step = Step{Kind: Condemn, Entry: cur.Entry, Value: b.value()}
	default:
		v.step = Step{Kind: Count, Entry: cur.Entry}
	}
	return v
}

// exit is the address that targets see, as far as is known.
func (s *State) exit(cur *Record) string {
	if h := s.healthOf(cur.Incarnation); h != nil && h.ExitIP != "" {
		return h.ExitIP
	}
	return cur.Seen.Host
}

// leavesBy says whether address is that of cur. Its exit may not be known yet, so either
// proves it.
func (s *State) leavesBy(cur *Record, address string) bool {
	return address == cur.Seen.Host || address == s.exit(cur)
}

// decideEndpoint is somebody else's proxy: its bans are told, once for each address.
func decideEndpoint(s State, want wire.Claim, now time.Time) view {
	v := view{healthPhase(s.healthOf(0)), wire.ReasonExternal, "", Step{Kind: Park}}
	if s.Version < 4 || want.Bans == nil {
		return v
	}
	told := condition(s.Stored.Conditions, wire.ConditionProvisioned)
	at := wire.Endpoint{Host: s.Stored.Host, Port: s.Stored.Port}
	switch {
	case told != nil && told.Reason == wire.ReasonBanned && at == *want.Endpoint:
		v.reason, v.msg = told.Reason, told.Message
	case s.Suspicion == nil:
	case s.Suspicion.Counted >= want.Bans.Count:
		v.reason = wire.ReasonBanned
		v.msg = fmt.Sprintf("%s:%d was %s, at %s UTC; only who runs it can give it another address",
			at.Host, at.Port, bannedWords(s.Suspicion.Counted, want.Bans.Window), now.UTC().Format("2006-01-02 15:04"))
	default:
		v.step = Step{Kind: Count}
	}
	return v
}
