package lease

// fleet is the proxies, and the classes by which they are found.
type fleet struct {
	proxies map[string]*proxy
	// byAttribute finds those that have an attribute.
	byAttribute map[attribute]map[*proxy]struct{}
	classes     map[string]*class
	// waited counts the classes that somebody waits in.
	waited int
	// uses counts the uses of classes, so that the one that was not used for longest can go.
	uses uint64
	// lendable counts the proxies that are healthy, do not drain and are not set aside.
	lendable int
}

type attribute struct{ name, value string }

func newFleet() fleet {
	return fleet{
		proxies: map[string]*proxy{}, byAttribute: map[attribute]map[*proxy]struct{}{}, classes: map[string]*class{},
	}
}

// proxy is a Candidate with all that refers to it.
type proxy struct {
	Candidate

	// lent is what it is lent as; nil until then.
	lent *lent
	// leases that are active.
	leases map[*record]struct{}
	// reserved slots are for batches that wait for more.
	reserved []*waiter
	// exclusive: its one lease, or reserved slot, shares it with no other.
	exclusive bool
	// doubt is set while it is known from the journal alone.
	doubt *doubt
	// aside is set while the proxy is not to be lent.
	aside alarm
	// cooldowns by target.
	cooldowns map[string]*cooldown
	// bans are when bans were reported, the latest Bans.Count of them.
	bans []moment
	// classes that it is a member of.
	classes []*class
	// waiting for it are requests of sessions that are bound to it.
	waiting line
}

func (p *proxy) load() int { return len(p.leases) + len(p.reserved) }

func (p *proxy) full() bool { return p.exclusive || p.load() >= p.MaxLeases }

func (p *proxy) lendable() bool { return p.Healthy && !p.Draining && p.aside.index == 0 }

// rests says whether p must not be lent for a target now.
func (p *proxy) rests(target string) bool {
	c, ok := p.cooldowns[target]
	return ok && c.resting
}

func (c Candidate) sameAddress(o Candidate) bool {
	return c.Host == o.Host && c.Port == o.Port && c.Scheme == o.Scheme
}

func (c Candidate) matches(selector map[string]string) bool {
	for k, v := range selector {
		if have, ok := c.Attributes[k]; !ok || have != v {
			return false
		}
	}
	return true
}

func newProxy(c Candidate) *proxy {
	p := &proxy{Candidate: c, leases: map[*record]struct{}{}, cooldowns: map[string]*cooldown{}}
	p.aside.rings = p
	return p
}

// add makes p, which is new or has other attributes, a member of its classes.
func (f *fleet) add(p *proxy) {
	f.proxies[p.UID] = p
	for k, v := range p.Attributes {
		a := attribute{k, v}
		if f.byAttribute[a] == nil {
			f.byAttribute[a] = map[*proxy]struct{}{}
		}
		f.byAttribute[a][p] = struct{}{}
	}
	for _, c := range f.classes {
		if p.matches(c.selector) {
			p.classes = append(p.classes, c)
		}
	}
}

// remove takes p, which counts nowhere, out of everything.
func (f *fleet) remove(p *proxy) {
	delete(f.proxies, p.UID)
	for k, v := range p.Attributes {
		a := attribute{k, v}
		delete(f.byAttribute[a], p)
		if len(f.byAttribute[a]) == 0 {
			delete(f.byAttribute, a)
		}
	}
	p.classes = nil
}

// touch changes what p counts as.
func (e *Engine) touch(p *proxy, change func()) {
	lendable := p.lendable()
	for _, c := range p.classes {
		c.tally(p, -1)
	}
	change()
	for _, c := range p.classes {
		c.tally(p, 1)
	}
	if p.lendable() != lendable {
		e.tallyLendable(p)
	}
}

// tallyLendable counts p, which has become lendable or is not any more.
func (e *Engine) tallyLendable(p *proxy) {
	n := -1
	if p.lendable() {
		n = 1
	}
	e.fleet.lendable += n
	for name, c := range p.cooldowns {
		if c.resting {
			e.target(name).rests(p, n > 0)
		}
	}
}
