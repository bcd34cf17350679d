package main

import (
	"fmt"
	"sync"
	"time"
)

// verdict is what kind of promise was broken.
type verdict string

const (
	leaseLost    verdict = "leases lost"
	sessionLost  verdict = "sessions lost"
	cooldownLost verdict = "cooldowns lost"
	grantedTwice verdict = "granted twice"
	notLinear    verdict = "not linearizable"
	broken       verdict = "broken" // another promise
)

// violation is a broken promise.
type violation struct {
	verdict verdict
	what    string
}

func (v *violation) Error() string { return string(v.verdict) + ": " + v.what }

func breaks(v verdict, format string, args ...any) *violation {
	return &violation{v, fmt.Sprintf(format, args...)}
}

// never is when what has no end ends.
const never = time.Duration(1<<63 - 1)

// span is when something happened, as its client knows: not before sent and not after
// got, which is never while its end is not known.
type span struct{ sent, got time.Duration }

// before: s was over when o began.
func (s span) before(o span) bool { return s.got < o.sent }

// pair is what a cooldown is about.
type pair struct{ proxy, target string }

func (p pair) String() string { return fmt.Sprintf("%s for target %q", p.proxy, p.target) }

// grant is a lease as its client knows it. Its fields change while the ledger is locked.
type grant struct {
	span

	id, client       string
	pair             pair
	exclusive, trial bool
	// until is when it ends by its client's own clock, which may be too early, never too late.
	until time.Duration
	// released is when its client began to give it back, or never.
	released time.Duration
}

// alive is when the lease was there in any case.
func (g *grant) alive() (from, to time.Duration) { return g.got, min(g.until, g.released) }

func (g *grant) String() string {
	from, to := g.alive()
	kind := ""
	if g.exclusive {
		kind += " exclusive"
	}
	if g.trial {
		kind += " trial"
	}
	return fmt.Sprintf("%s of %s: %s%s, asked for at %s, alive from %s to %s", g.id, g.client, g.pair, kind,
		seconds(g.sent), seconds(from), seconds(to))
}

func seconds(d time.Duration) string {
	if d == never {
		return "the end"
	}
	return fmt.Sprintf("%.3f s", d.Seconds())
}

// rest is an attempt to begin or prolong a cooldown.
type rest struct {
	span

	pair pair
	// lasts is how long the pair rests at least, from when it was sent.
	lasts time.Duration
	// ban: it ends in a trial.
	ban bool
	// leased is when the lease that reports was asked for: an old one knows nothing new
	// of a ban.
	leased time.Duration
}

func (r *rest) String() string {
	kind := "rest"
	if r.ban {
		kind = "ban"
	}
	return fmt.Sprintf("%s of %s, sent at %s, answered at %s, for %s", kind, r.pair, seconds(r.sent), seconds(r.got), r.lasts)
}

// pardon is what may end the cooldowns of a pair: an operator who clears it, or a good
// report on a trial.
type pardon struct {
	span

	pair pair
}

// ledger is what all clients together know. It is safe for concurrent use.
type ledger struct {
	now func() time.Duration

	mu      sync.Mutex
	grants  []*grant
	rests   []*rest
	pardons []*pardon
}

func newLedger(now func() time.Duration) *ledger { return &ledger{now: now} }

func (l *ledger) addGrant(g *grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants = append(l.grants, g)
}

// prolong notes that a lease lives until a time at least.
func (l *ledger) prolong(g *grant, until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.until = max(g.until, until)
}

// release notes that a lease is about to be given back.
func (l *ledger) release(g *grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.released = min(g.released, l.now())
}

// addRest notes a rest before it is sent: it counts as tried until its end is known.
func (l *ledger) addRest(r rest) *rest {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.span = span{l.now(), never}
	l.rests = append(l.rests, &r)
	return &r
}

func (l *ledger) addPardon(p pair) *pardon {
	l.mu.Lock()
	defer l.mu.Unlock()
	added := &pardon{span{l.now(), never}, p}
	l.pardons = append(l.pardons, added)
	return added
}

// answered notes the end of a rest or a pardon.
func (l *ledger) answered(s *span, r reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.got = r.got
}

// rested says whether somebody may have had a pair rest.
func (l *ledger) rested(p pair) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.rests {
		if r.pair == p {
			return true
		}
	}
	return false
}

// check looks at all that is known, and forgets what cannot matter any more.
func (l *ledger) check(capacity map[string]int) *violation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := crowded(l.grants, capacity); v != nil {
		return v
	}
	if v := disturbed(l.grants, l.rests, l.pardons); v != nil {
		return v
	}
	l.forget(l.now() - time.Minute)
	return nil
}

// forget drops leases that were over at a time. A request that was sent before has been
// given up by its client.
func (l *ledger) forget(at time.Duration) {
	kept := l.grants[:0]
	for _, g := range l.grants {
		if _, to := g.alive(); to > at {
			kept = append(kept, g)
		}
	}
	clear(l.grants[len(kept):])
	l.grants = kept
}
