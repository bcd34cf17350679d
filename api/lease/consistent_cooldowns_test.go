package lease

import "slices"

func (c *checker) cooldowns() {
	resting, ends, known := map[string]int{}, map[string]int{}, map[string]int{}
	for uid, p := range c.fleet.proxies {
		for name, cd := range p.cooldowns {
			known[name]++
			what := "cooldown " + cooldownKey(uid, name)
			if cd.proxy != p || cd.target != name {
				c.no("%s belongs elsewhere", what)
			}
			reserved := slices.ContainsFunc(p.reserved, func(w *waiter) bool { return w.req.Target == name })
			want := cd.until > c.now || cd.trial != "" || cd.strikes > 0 && reserved
			c.equal(what+" rests", want, cd.resting)
			if cd.resting && p.lendable() {
				resting[name]++
			}
			c.end(what, cd)
			if cd.ends > 0 {
				ends[name]++
			}
			c.trial(what, p, cd)
		}
	}
	for name, t := range c.targets {
		c.equal("resting for "+name, resting[name], len(t.resting))
		c.equal("ends of "+name, ends[name], t.ends.Len())
		c.usable(t)
		if known[name] == 0 && t.budget == nil {
			c.no("target %q is remembered for nothing", name)
		}
	}
	for name, n := range ends {
		if c.targets[name] == nil {
			c.no("target %q is forgotten, and %d proxies rest for it", name, n)
		}
	}
}

func (c *checker) usable(t *target) {
	n := 0
	for _, p := range c.fleet.proxies {
		if p.lendable() && !p.rests(t.name) {
			n++
		}
	}
	c.equal("usable for "+t.name, n, c.Engine.usable(t))
}

func (c *checker) end(what string, cd *cooldown) {
	if cd.until <= c.now {
		c.equal(what+" has an end", moment(0), cd.ends)
		c.rings(what, &cd.alarm, cd.until+strikesKept)
		if cd.strikes == 0 {
			c.no("%s is over, and not forgotten", what)
		}
		return
	}
	c.equal(what+" ends", cd.until, cd.ends)
	c.rings(what, &cd.alarm, cd.until)
	if got, ok := c.targets[cd.target].ends.Get(cd); !ok || got != cd {
		c.no("%s is not among the ends of its target", what)
	}
}

// trial: at most one lease finds out whether a ban is over.
func (c *checker) trial(what string, p *proxy, cd *cooldown) {
	if r := c.Engine.leases[cd.trial]; cd.trial != "" && (r == nil || !has(p.leases, r) || !r.trial || r.target != cd.target) {
		c.no("%s has a trial %s that is none", what, cd.trial)
	}
	var since []string
	for r := range p.leases {
		if r.target == cd.target && cd.strikes > 0 && (r.granted >= cd.until || r.trial && r.granted > cd.since) {
			since = append(since, r.id)
		}
	}
	if len(since) > 1 || len(since) == 1 && since[0] != cd.trial {
		c.no("%s is tried by %v, want %q alone", what, since, cd.trial)
	}
}
