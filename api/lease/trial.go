package lease

import "slices"

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

// passed ends a ban when its trial, or one that ended since, went well. What else the proxy
// rests for the target for, it goes on to.
func (e *Engine) passed(p *proxy, r *record, target string, now moment) {
	c := p.cooldowns[target]
	if c == nil || c.strikes == 0 || !r.trial || r.target != target || r.granted <= c.since {
		return
	}
	if c.until <= now {
		e.clear(p, c)
		e.offer(p, now)
		return
	}
	c.result, c.strikes, c.trial = ResultRateLimited, 0, ""
	e.change(c.change())
}
