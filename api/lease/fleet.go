package lease

import (
	"slices"
	"time"
)

// fleet is the proxies, and the classes by which they are found.
type fleet struct {
	proxies map[string]*proxy
	// byAttribute finds those that have an attribute.
	byAttribute map[attribute]map[*proxy]struct{}
	classes     map[string]*class
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

// Sync makes candidates the whole fleet. The first one opens the engine for requests.
// Callers must not pass an older view after a newer one.
func (e *Engine) Sync(candidates []Candidate) {
	e.mu.Lock()
	defer e.unlock()
	if e.err != nil {
		return
	}
	if !e.synced {
		e.synced, e.started = true, e.Clock.Now()
	}
	now := e.settle()
	there := make(map[string]bool, len(candidates))
	for _, c := range candidates {
		there[c.UID] = true
		e.put(c, now)
	}
	for uid, p := range e.fleet.proxies {
		if !there[uid] {
			e.leave(p, now)
		}
	}
	select {
	case e.wake <- struct{}{}: // time goes on from here
	default:
	}
}

// Put adds a proxy to the fleet, or says how it is now.
func (e *Engine) Put(c Candidate) {
	e.mu.Lock()
	defer e.unlock()
	if e.err == nil {
		e.put(c, e.settle())
	}
}

// Remove takes a proxy out of the fleet and ends its leases.
func (e *Engine) Remove(uid string) {
	e.mu.Lock()
	defer e.unlock()
	if p := e.fleet.proxies[uid]; p != nil && e.err == nil {
		e.leave(p, e.settle())
	}
}

// SetAside has proxies not lent for d, though they are healthy.
func (e *Engine) SetAside(uids []string, d time.Duration) {
	e.mu.Lock()
	defer e.unlock()
	if e.err != nil {
		return
	}
	now := e.settle()
	for _, uid := range uids {
		if p := e.fleet.proxies[uid]; p != nil {
			e.touch(p, func() { e.set(&p.aside, now+d) })
			e.notLendable(p, now)
		}
	}
}

// ring is the end of having been set aside. The alarm is off by now, which is what p
// counted by.
func (p *proxy) ring(e *Engine, now moment) {
	e.set(&p.aside, now)
	e.touch(p, func() { e.unset(&p.aside) })
	e.offer(p, now)
}

func (e *Engine) put(c Candidate, now moment) {
	p := e.fleet.proxies[c.UID]
	if p != nil && !p.sameAddress(c) {
		e.leave(p, now) // bans were the old address's, and so were the leases
		p = nil
	}
	if p == nil {
		p = newProxy(Candidate{UID: c.UID})
	}
	was := p.Candidate
	// The classes are those of its attributes: it leaves the old ones as what it was.
	e.touch(p, func() {
		e.fleet.remove(p)
		p.Candidate, p.lent = c, nil
		e.fleet.add(p)
	})
	if !p.lendable() {
		e.notLendable(p, now)
	}
	if p.Draining != was.Draining || p.Bans != was.Bans {
		e.noticeIfDrained(p)
		e.noticeIfBanned(p, now)
	}
	e.offer(p, now)
}

// notLendable lets go what counted on p.
func (e *Engine) notLendable(p *proxy, now moment) {
	e.unreserve(p, now)
	e.rebind(p, now)
}

// leave ends whatever belongs to p, and forgets p.
func (e *Engine) leave(p *proxy, now moment) {
	e.touch(p, func() { p.Healthy = false })
	for _, r := range p.sortedLeases() {
		e.end(r, ErrProxyGone, now)
	}
	for _, c := range p.cooldowns {
		e.forgetCooldown(c)
	}
	if len(p.bans) > 0 {
		p.bans = nil
		e.change(p.bansChange())
	}
	e.unset(&p.aside)
	e.touch(p, func() { e.fleet.remove(p) })
	e.notices.forget(p.UID)
	e.notLendable(p, now)
}

// sortedLeases are p's leases, the oldest first, so that a fleet that is told twice ends
// them in the same order.
func (p *proxy) sortedLeases() []*record {
	leases := make([]*record, 0, len(p.leases))
	for r := range p.leases {
		leases = append(leases, r)
	}
	slices.SortFunc(leases, (*record).older)
	return leases
}
