package lease

import (
	"context"
	"time"
)

const (
	// limitedFor is how long a rate limit lasts that names no time.
	limitedFor = 30 * time.Second
	// maxBan is the longest rest before a trial, but for the jitter of ban.
	maxBan = 24 * time.Hour
	// banJitter spreads the trials of proxies that were banned together.
	banJitter = 0.2
	// strikesKept is how long bans in a row are remembered while nobody tries.
	strikesKept = 24 * time.Hour
	// maxCooldowns of one proxy: clients may report on any target they think of.
	maxCooldowns = 1000
)

// cooldown keeps a proxy from being lent for a target. One that a ban began stays, when
// its time is over, until a trial has ended well.
type cooldown struct {
	proxy  *proxy
	target string
	result Result
	// since is when the latest ban began; leases from before know nothing new.
	since   moment
	until   moment
	strikes int
	// trial is the id of the lease that finds out now.
	trial string
	// resting: not to be lent for the target, which is told by until and trial.
	resting bool
	// ends is the place among the ends of the target's cooldowns; 0 when it has none.
	ends  moment
	alarm alarm
}

// Rest keeps a proxy from being lent for a target, for d at least.
func (e *Engine) Rest(_ context.Context, uid, target string, d time.Duration) (Cooldown, error) {
	now, err := e.begin()
	if err != nil {
		return Cooldown{}, err
	}
	var told Cooldown
	if p := e.fleet.proxies[uid]; p != nil {
		told = e.tellCooldown(e.rest(p, target, d, now))
	} else {
		err = ErrUnknownProxy
	}
	if kept := e.finish(); kept != nil {
		return Cooldown{}, kept
	}
	return told, err
}

// Clear ends the cooldown of a proxy for a target, or all of its cooldowns.
func (e *Engine) Clear(_ context.Context, uid string, target *string) error {
	now, err := e.begin()
	if err != nil {
		return err
	}
	p := e.fleet.proxies[uid]
	if p == nil {
		err = ErrUnknownProxy
	} else {
		for name, c := range p.cooldowns {
			if target == nil || *target == name {
				e.clear(p, c)
			}
		}
		e.offer(p, now)
	}
	if kept := e.finish(); kept != nil {
		return kept
	}
	return err
}

// rest begins or prolongs a cooldown. One that a ban began keeps its strikes.
func (e *Engine) rest(p *proxy, target string, d time.Duration, now moment) *cooldown {
	c := p.cooldowns[target]
	if c == nil {
		c = e.newCooldown(p, target)
		c.result = ResultRateLimited
	}
	e.restUntil(p, c, max(c.until, now+d), now)
	return c
}

// newCooldown makes room for one more of p.
func (e *Engine) newCooldown(p *proxy, target string) *cooldown {
	for len(p.cooldowns) >= maxCooldowns {
		var next *cooldown
		for _, c := range p.cooldowns {
			if next == nil || c.lessNeeded(next) {
				next = c
			}
		}
		e.clear(p, next)
	}
	c := &cooldown{proxy: p, target: target}
	c.alarm.rings = c
	return c
}

// lessNeeded says whether c goes before o where there are too many: what is nearest to its
// end, but bans that rest last.
func (c *cooldown) lessNeeded(o *cooldown) bool {
	if a, b := c.resting && c.strikes > 0, o.resting && o.strikes > 0; a != b {
		return b
	}
	return c.alarm.at < o.alarm.at
}

// ban begins a cooldown, or makes it longer when a lease from after the latest ban was
// banned too.
func (e *Engine) ban(p *proxy, r *record, target string, now moment) {
	c := p.cooldowns[target]
	switch {
	case c == nil:
		c = e.newCooldown(p, target)
	case c.strikes > 0 && r.granted <= c.since:
		return
	}
	c.result, c.since, c.trial = ResultBanned, now, ""
	c.strikes++
	e.restUntil(p, c, max(c.until, now+e.banTime(c.strikes)), now)
}

// banTime is how long the last of so many bans in a row lasts.
func (e *Engine) banTime(strikes int) time.Duration {
	d := e.Ban
	for n := 1; n < strikes && d < maxBan; n++ {
		d *= 2
	}
	d = min(d, maxBan)
	return d + time.Duration(banJitter*e.Jitter()*float64(d))
}

func (e *Engine) restUntil(p *proxy, c *cooldown, until, now moment) {
	t := e.target(c.target)
	t.ended(c)
	e.touch(p, func() {
		p.cooldowns[c.target] = c
		c.until = until
		e.setResting(c, true)
	})
	t.began(c)
	e.set(&c.alarm, until)
	e.change(c.change())
	e.unreserve(p, now)
	e.rebind(p, func(target string) bool { return target == c.target }, now)
}

// setResting is called where p is touched.
func (e *Engine) setResting(c *cooldown, resting bool) {
	if c.resting == resting {
		return
	}
	c.resting = resting
	if c.proxy.lendable() {
		e.target(c.target).rests(c.proxy, resting)
	}
}

// ring is the end of the cooldown's time, and later of its strikes.
func (c *cooldown) ring(e *Engine, now moment) {
	if c.strikes == 0 || now >= c.until+strikesKept {
		e.clear(c.proxy, c)
	} else {
		e.target(c.target).ended(c)
		e.touch(c.proxy, func() { e.setResting(c, c.tried()) })
		e.set(&c.alarm, c.until+strikesKept)
	}
	e.offer(c.proxy, now)
}

func (e *Engine) clear(p *proxy, c *cooldown) {
	e.touch(p, func() {
		e.setResting(c, false)
		delete(p.cooldowns, c.target)
	})
	e.forgetCooldown(c)
}

// forgetCooldown forgets c, which counts nowhere.
func (e *Engine) forgetCooldown(c *cooldown) {
	delete(c.proxy.cooldowns, c.target)
	e.unset(&c.alarm)
	t := e.target(c.target)
	t.ended(c)
	e.change(Change{Kind: kindCooldown, Key: cooldownKey(c.proxy.UID, c.target)})
	e.dropIfUnused(t)
}

func (e *Engine) tellCooldown(c *cooldown) Cooldown {
	return Cooldown{Target: c.target, Result: c.result, Until: e.wall(c.until), Strikes: c.strikes, Trial: c.trial != ""}
}

func cooldownKey(uid, target string) string { return uid + " " + target }

func (c *cooldown) change() Change {
	b := append(newForm(), c.proxy.asLent().form...)
	b = appendText(appendText(b, c.target), string(c.result))
	b = appendNumber(appendNumber(b, int64(c.since)), int64(c.until))
	b = appendText(appendNumber(b, int64(c.strikes)), c.trial)
	return Change{Kind: kindCooldown, Key: cooldownKey(c.proxy.UID, c.target), Value: b}
}

func readCooldown(f *form) (Candidate, *cooldown) {
	of := readLent(f).Candidate
	c := &cooldown{target: f.text(), result: Result(f.text()), since: f.moment(), until: f.moment()}
	c.strikes, c.trial = f.tally(), f.text()
	c.alarm.rings = c
	return of, c
}
