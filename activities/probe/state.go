package probe

import "time"

const (
	// firstLookEvery is how often a proxy without a verdict is tried: a new one
	// should not wait out an interval because its first probe came a moment early.
	firstLookEvery = 2 * time.Second
	// newsEvery is how often a change that flips nothing is told.
	newsEvery = time.Minute
	// resendAfter is how long the object may tell otherwise before a verdict is told
	// again.
	resendAfter = 15 * time.Second
	// minLatencyChange and half of what was told must both be exceeded.
	minLatencyChange = 20 * time.Millisecond
)

// news is what there is to tell of a target.
type news int

const (
	nothing news = iota
	// detail: other latency or reason while the verdict stands.
	detail
	// flip: a first verdict, or the opposite one.
	flip
)

// opinion is a verdict that has passed its threshold.
type opinion struct {
	known   bool
	healthy bool
}

// state is what the engine remembers of one target. It is plain data: the caller
// holds the lock and brings the time.
type state struct {
	target   Target
	inFlight bool

	// dueAt is when the first probe is due; lastProbe counts from then on.
	dueAt     time.Time
	lastProbe time.Time

	opinion   opinion
	successes int
	failures  int
	// lastFailure that counted.
	lastFailure time.Time
	// proof is the latest result that agrees with the opinion.
	proof   Result
	proofAt time.Time

	// told is what was last reported, toldAt when.
	told       opinion
	toldResult Result
	toldAt     time.Time
	// contraryAt is since when the object tells otherwise.
	contraryAt time.Time
}

// newState starts from what the object tells: with a verdict, the first probe comes
// at some time within an interval, so that a restart does not probe all at once.
func newState(t Target, now time.Time, jitter float64) *state {
	s := &state{target: t, dueAt: now}
	if !t.Published.Known {
		return s
	}
	s.opinion = opinion{known: true, healthy: t.Published.Healthy}
	s.told = s.opinion
	s.toldResult = Result{Latency: t.Published.Latency, ExitIP: t.Published.ExitIP}
	s.dueAt = now.Add(time.Duration(jitter * float64(t.Check.Interval)))
	return s
}

func (s *state) due(now time.Time) bool {
	if s.lastProbe.IsZero() {
		return !now.Before(s.dueAt)
	}
	wait := s.target.Check.Interval
	if !s.opinion.known {
		wait = min(wait, firstLookEvery)
	}
	return now.Sub(s.lastProbe) >= wait
}

// record takes in a result. A blocked one counts neither for nor against.
func (s *state) record(r Result, now time.Time) {
	switch {
	case r.Verdict == Blocked:
		return
	case r.Verdict.OK():
		s.successes, s.failures = s.successes+1, 0
	case s.hasty(now):
		s.successes = 0
	default:
		s.successes, s.failures, s.lastFailure = 0, s.failures+1, now
	}
	switch {
	case s.successes >= s.target.Check.SuccessThreshold:
		s.opinion = opinion{known: true, healthy: true}
	case s.failures >= s.target.Check.FailureThreshold:
		s.opinion = opinion{known: true, healthy: false}
	}
	if s.opinion.known && s.opinion.healthy == r.Verdict.OK() {
		s.proof, s.proofAt = r, now
	}
}

// hasty says whether a failure comes too soon after the last one to count: the
// quick looks at a new proxy must not make it dead before it is up.
func (s *state) hasty(now time.Time) bool {
	return !s.opinion.known && s.failures > 0 && now.Sub(s.lastFailure) < s.target.Check.Interval
}

// news says what there is to tell after a result was recorded.
func (s *state) news(now time.Time) news {
	switch {
	case s.proofAt.IsZero():
		return nothing
	case s.opinion != s.told:
		return flip
	case now.Sub(s.toldAt) < newsEvery:
		return nothing
	case s.reasonChanged() || s.opinion.healthy && s.latencyChanged():
		return detail
	}
	return nothing
}

// reasonChanged is false as long as only the object's word is known.
func (s *state) reasonChanged() bool {
	if s.toldAt.IsZero() {
		return false
	}
	return s.proof.Verdict != s.toldResult.Verdict || s.opinion.healthy && s.proof.ExitIP != s.toldResult.ExitIP
}

func (s *state) latencyChanged() bool {
	change := (s.proof.Latency - s.toldResult.Latency).Abs()
	return change > max(minLatencyChange, s.toldResult.Latency/2)
}

// contrary says whether the object has told otherwise for too long: the report, or
// what it led to, was lost.
func (s *state) contrary(p Published, now time.Time) bool {
	if s.proofAt.IsZero() || s.told != s.opinion || p.Known && p.Healthy == s.opinion.healthy {
		s.contraryAt = time.Time{}
		return false
	}
	if s.contraryAt.IsZero() {
		s.contraryAt = now
	}
	return now.Sub(s.contraryAt) >= resendAfter
}

// reported notes that t has been told.
func (s *state) reported(t Transition, now time.Time) {
	s.told = opinion{known: true, healthy: t.Healthy}
	s.toldResult = Result{Verdict: t.Verdict, Latency: t.Latency, ExitIP: t.ExitIP, Message: t.Message}
	s.toldAt = now
	s.contraryAt = time.Time{}
}

// exitIP is the address that targets saw last, as far as is known.
func (s *state) exitIP() string {
	if s.proofAt.IsZero() {
		return s.toldResult.ExitIP
	}
	return s.proof.ExitIP
}

func (s *state) transition() Transition {
	return Transition{
		UID: s.target.UID, Incarnation: s.target.Incarnation, Namespace: s.target.Namespace, Name: s.target.Name,
		Verdict: s.proof.Verdict, Healthy: s.opinion.healthy, Latency: s.proof.Latency, ExitIP: s.proof.ExitIP,
		Message: s.proof.Message, At: s.proofAt,
	}
}
