package main

import (
	"cmp"
	"slices"
	"time"
)

// crowded finds a proxy that had more leases at a time than it may, or an exclusive one
// beside another. It counts a lease only while it was there in any case.
func crowded(grants []*grant, capacity map[string]int) *violation {
	byProxy := map[string][]*grant{}
	for _, g := range grants {
		if from, to := g.alive(); from < to {
			byProxy[g.pair.proxy] = append(byProxy[g.pair.proxy], g)
		}
	}
	for proxy, all := range byProxy {
		if v := crowdedProxy(proxy, all, capacity[proxy]); v != nil {
			return v
		}
	}
	return nil
}

func crowdedProxy(proxy string, grants []*grant, capacity int) *violation {
	slices.SortFunc(grants, func(a, b *grant) int { return cmp.Compare(a.got, b.got) })
	var there []*grant
	for _, g := range grants {
		there = slices.DeleteFunc(there, func(o *grant) bool {
			_, to := o.alive()
			return to <= g.got
		})
		there = append(there, g)
		if len(there) > capacity {
			return breaks(grantedTwice, "%s may have %d leases, and had %d at %s:%s", proxy, capacity, len(there), seconds(g.got), list(there))
		}
		if len(there) > 1 && slices.ContainsFunc(there, func(o *grant) bool { return o.exclusive }) {
			return breaks(grantedTwice, "%s had an exclusive lease and another at %s:%s", proxy, seconds(g.got), list(there))
		}
	}
	return nil
}

func list[T interface{ String() string }](all []T) string {
	text := ""
	for _, one := range all {
		text += "\n  " + one.String()
	}
	return text
}

// disturbed finds a pair that was lent while it rested, or other than for a trial after a
// ban, or for two trials at a time.
func disturbed(grants []*grant, rests []*rest, pardons []*pardon) *violation {
	pairs := map[pair]*resting{}
	of := func(p pair) *resting {
		if pairs[p] == nil {
			pairs[p] = &resting{}
		}
		return pairs[p]
	}
	for _, r := range rests {
		of(r.pair).rests = append(of(r.pair).rests, r)
	}
	for _, p := range pardons {
		of(p.pair).pardons = append(of(p.pair).pardons, p)
	}
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
