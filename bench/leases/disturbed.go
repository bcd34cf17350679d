package main

import (
	"slices"
	"time"
)

// disturbed finds a pair that was lent while it rested, or other than for a trial after a
// ban, or for two trials at a time.
func disturbed(grants []*grant, rests []*rest, pardons []*pardon) *violation {
	pairs := byPair(rests, pardons)
	for _, g := range grants {
		if pairs[g.pair] != nil {
			pairs[g.pair].grants = append(pairs[g.pair].grants, g)
		}
	}
	for _, p := range pairs {
		if v := p.check(); v != nil {
			return v
		}
	}
	return nil
}

// byPair has what concerns the cooldowns of each pair, but for the grants.
func byPair(rests []*rest, pardons []*pardon) map[pair]*resting {
	pairs := map[pair]*resting{}
	for _, r := range rests {
		if pairs[r.pair] == nil {
			pairs[r.pair] = &resting{}
		}
		pairs[r.pair].rests = append(pairs[r.pair].rests, r)
	}
	for _, o := range pardons {
		if p := pairs[o.pair]; p != nil {
			p.pardons = append(p.pardons, o)
		}
	}
	return pairs
}

// due are the cooldowns of a proxy that were there all through a span.
func (l *ledger) due(proxy string, within span) (all []*rest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for about, p := range byPair(l.rests, l.pardons) {
		if about.proxy != proxy {
			continue
		}
		for _, r := range p.rests {
			there := r.ban || within.got < r.sent+r.lasts // a ban is remembered after its time
			if there && r.before(within) && p.holds(r) && !p.pardoned(r.span, within.got) {
				all = append(all, r)
			}
		}
	}
	return all
}

// resting is all that concerns the cooldowns of one pair.
type resting struct {
	grants  []*grant
	rests   []*rest
	pardons []*pardon
}

func (p *resting) check() *violation {
	for _, r := range p.rests {
		if !p.holds(r) {
			continue
		}
		for _, g := range p.grants {
			if v := p.breach(r, g); v != nil {
				return v
			}
		}
	}
	return p.twoTrials()
}

// holds says whether r began a cooldown in any case. A ban does not when its lease may be
// older than another one.
func (p *resting) holds(r *rest) bool {
	if r.got == never {
		return false
	}
	for _, o := range p.rests {
		if r.ban && o.ban && o != r && o.sent <= r.got && o.got >= r.leased {
			return false
		}
	}
	return true
}

// breach is set when g was lent after r, but before it may be.
func (p *resting) breach(r *rest, g *grant) *violation {
	if !r.before(g.span) || p.pardoned(r.span, g.got) {
		return nil
	}
	switch {
	case g.got < r.sent+r.lasts:
		return breaks(cooldownLost, "lent while it rests: %s\n  %s", r, g)
	case r.ban && !g.trial:
		return breaks(cooldownLost, "lent after a ban, but not for a trial: %s\n  %s", r, g)
	}
	return nil
}

// pardoned says whether the cooldown that began within s may have been ended by then.
func (p *resting) pardoned(s span, then time.Duration) bool {
	return slices.ContainsFunc(p.pardons, func(o *pardon) bool { return o.got >= s.sent && o.sent <= then })
}

// twoTrials finds what was lent while a trial was under way.
func (p *resting) twoTrials() *violation {
	for _, t := range p.grants {
		from, to := t.alive()
		to = min(to, p.trialOver(t))
		if !t.trial || from >= to {
			continue
		}
		for _, g := range p.grants {
			if g != t && g.sent > from && g.got < to {
				return breaks(cooldownLost, "lent while a trial is under way: %s\n  %s", t, g)
			}
		}
	}
	return nil
}

// trialOver is when something may have ended a trial before its lease.
func (p *resting) trialOver(t *grant) time.Duration {
	over := never
	for _, r := range p.rests {
		if r.got >= t.sent {
			over = min(over, r.sent)
		}
	}
	for _, o := range p.pardons {
		if o.got >= t.sent {
			over = min(over, o.sent)
		}
	}
	return over
}
