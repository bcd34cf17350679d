package lease

import (
	"context"
	"slices"
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

// Report takes in what the client of a lease has seen, for the report's target, else the
// lease's, else for leases without a target. A lease that ended lately may still be
// reported on; when its proxy is gone, so is what the report would rest.
func (e *Engine) Report(_ context.Context, id string, may Holder, rep Report) error {
	now, err := e.begin()
	if err != nil {
		return err
	}
	err = e.report(id, may, rep, now)
	if kept := e.finish(); kept != nil {
		return kept
	}
	return err
}

func (e *Engine) report(id string, may Holder, rep Report, now moment) error {
	r, err := e.held(id, may)
	if err != nil {
		return err
	}
	if rep.Target == "" {
		rep.Target = r.target
	}
	first := rep.Result != ResultOK && !slices.Contains(r.reported, rep.Target)
	if first && len(r.reported) == maxTargets {
		return ErrTooManyTargets
	}
	if first {
		r.reported = append(r.reported, rep.Target)
		e.change(r.change())
	}
	if p := e.fleet.proxies[r.proxy.UID]; p != nil && p.sameAddress(r.proxy) {
		e.reportOn(p, r, rep, first, now)
	}
	return nil
}

// reportOn takes in a report; first is set for the first bad one of a lease on a target.
func (e *Engine) reportOn(p *proxy, r *record, rep Report, first bool, now moment) {
	switch rep.Result {
	case ResultOK:
		e.passed(p, r, rep.Target, now)
	case ResultRateLimited:
		if rep.RetryAfter <= 0 {
			rep.RetryAfter = limitedFor
		}
		e.rest(p, rep.Target, rep.RetryAfter, now)
	case ResultBanned:
		if first {
			e.countBan(p, now)
		}
		e.ban(p, r, rep.Target, now)
	}
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
		c = &cooldown{proxy: p, target: target, result: ResultRateLimited}
		c.alarm.rings = c
	}
	e.restUntil(p, c, max(c.until, now+d), now)
	return c
}

// ban begins a cooldown, or makes it longer when a lease from after the latest ban was
// banned too.
func (e *Engine) ban(p *proxy, r *record, target string, now moment) {
	c := p.cooldowns[target]
	switch {
	case c == nil:
		c = &cooldown{proxy: p, target: target}
		c.alarm.rings = c
	case c.strikes > 0 && r.granted <= c.since:
		return
	}
	c.result, c.since = ResultBanned, now
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
		c.until, c.trial = until, ""
		e.setResting(c, true)
	})
	t.began(c)
	e.set(&c.alarm, until)
	e.change(c.change())
	e.unreserve(p, now)
	e.rebind(p, now)
}

// setResting is called where p is touched.
func (e *Engine) setResting(c *cooldown, resting bool) {
	if c.resting == resting {
		return
	}
	c.resting = resting
	if !c.proxy.lendable() {
		return
	}
	if resting {
		e.target(c.target).resting++
	} else {
		e.target(c.target).resting--
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

// beginTrial makes r the one lease that finds out, if it is for a target that banned p.
func (e *Engine) beginTrial(p *proxy, r *record) {
	c := p.cooldowns[r.target]
	if c == nil || c.strikes == 0 {
		return
	}
	r.trial, c.trial = true, r.id
	e.setResting(c, true)
	e.change(c.change())
}

// endTrial lets another lease find out, if r has not.
func (e *Engine) endTrial(p *proxy, r *record) {
	c := p.cooldowns[r.target]
	if c == nil || c.trial != r.id {
		return
	}
	c.trial = ""
	e.restForTrial(p, r.target)
	e.change(c.change())
}

// tried says whether a lease finds out, or a batch keeps a slot for one that will.
func (c *cooldown) tried() bool {
	return c.trial != "" || c.strikes > 0 &&
		slices.ContainsFunc(c.proxy.reserved, func(w *waiter) bool { return w.req.Target == c.target })
}

// restForTrial has p lent no more for a target while a trial is under way or reserved, and
// lent again after that. It is called where p is touched.
func (e *Engine) restForTrial(p *proxy, target string) {
	if c := p.cooldowns[target]; c != nil {
		e.setResting(c, c.ends > 0 || c.tried())
	}
}

// passed clears a ban when its trial, or one that ended since, went well.
func (e *Engine) passed(p *proxy, r *record, target string, now moment) {
	c := p.cooldowns[target]
	if c == nil || !r.trial || r.target != target || r.granted < c.until {
		return
	}
	e.clear(p, c)
	e.offer(p, now)
}

func (e *Engine) tellCooldown(c *cooldown) Cooldown {
	return Cooldown{Target: c.target, Result: c.result, Until: e.wall(c.until), Strikes: c.strikes, Trial: c.trial != ""}
}

func cooldownKey(uid, target string) string { return uid + " " + target }

func (c *cooldown) change() Change {
	b := appendCandidate(newForm(), &c.proxy.Candidate)
	b = appendText(appendText(b, c.target), string(c.result))
	b = appendNumber(appendNumber(b, int64(c.since)), int64(c.until))
	b = appendText(appendNumber(b, int64(c.strikes)), c.trial)
	return Change{Kind: kindCooldown, Key: cooldownKey(c.proxy.UID, c.target), Value: b}
}

func readCooldown(f *form) (Candidate, *cooldown) {
	of := readCandidate(f)
	c := &cooldown{target: f.text(), result: Result(f.text()), since: moment(f.number()), until: moment(f.number())}
	c.strikes, c.trial = int(f.number()), f.text()
	c.alarm.rings = c
	return of, c
}
