package lease

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// load makes e what its journal says. The proxies are those that something is kept of, in
// no shape to be lent: the first Sync tells what they are now.
func (e *Engine) load(ctx context.Context) error {
	l := loading{engine: e, lent: map[string]*lent{}}
	if err := e.journal.Load(ctx, l.take); err != nil {
		return err
	}
	l.join()
	return nil
}

// loading collects what a journal tells in no order.
type loading struct {
	engine *Engine
	keys   []*keyed
	lent   map[string]*lent
}

func (l *loading) take(c Change) error {
	if err := l.read(c); err != nil {
		return fmt.Errorf("read %c %q: %w", c.Kind, c.Key, err)
	}
	return nil
}

func (l *loading) read(c Change) error {
	e := l.engine
	if c.Kind == kindTime {
		return e.loadTime(c.Value)
	}
	f := readForm(c.Value, l.lent)
	switch c.Kind {
	case kindLease:
		r := readRecord(c.Key, f)
		e.leases[r.id] = r
	case kindSession:
		s := readSession(f)
		e.sessions[s.id] = s
	case kindCooldown:
		of, cd := readCooldown(f)
		p := e.keptProxy(of)
		cd.proxy = p
		p.cooldowns[cd.target] = cd
	case kindBans:
		of, bans, err := readBans(f)
		e.keptProxy(of).bans = bans
		return err
	case kindKey:
		l.keys = append(l.keys, readKeyed(f))
	case kindBudget:
		e.target(c.Key).budget = readBudget(f)
	default:
		return fmt.Errorf("nothing of this kind is known: was it written by a newer program?")
	}
	return f.end()
}

// keptProxy is the proxy that something is kept of, as it was when the latest was.
func (e *Engine) keptProxy(c Candidate) *proxy {
	p := e.fleet.proxies[c.UID]
	if p == nil {
		p = newProxy(c)
		p.doubt = newDoubt(p)
		e.fleet.add(p)
	}
	if c.Version > p.Version {
		e.fleet.remove(p)
		p.Candidate = c
		e.fleet.add(p)
	}
	return p
}

// join puts together what was read, and sets the alarms.
func (l *loading) join() {
	e := l.engine
	var ended []*record
	for _, r := range e.leases {
		e.set(&r.alarm, r.alarm.at)
		if r.ended != nil {
			ended = append(ended, r)
			continue
		}
		p := e.keptProxy(r.proxy.Candidate)
		p.leases[r] = struct{}{}
		p.exclusive = p.exclusive || r.exclusive
		e.active++
		e.client(r.client).active++
		if s := e.sessions[sessionID{r.client, r.session}]; s != nil {
			s.leases++
		}
	}
	slices.SortFunc(ended, func(a, b *record) int { return cmp.Compare(a.alarm.at, b.alarm.at) })
	for _, r := range ended {
		r.place = e.client(r.client).ended.PushBack(r)
	}
	for _, s := range e.sessions {
		e.client(s.id.client).sessions++
		if s.leases == 0 {
			e.set(&s.alarm, s.idleUntil)
		}
	}
	for _, p := range e.fleet.proxies {
		for _, c := range p.cooldowns {
			e.joinCooldown(c)
		}
	}
	l.joinKeys()
}

func (e *Engine) joinCooldown(c *cooldown) {
	now := e.now()
	if c.until > now {
		c.resting = true
		e.target(c.target).began(c)
		e.set(&c.alarm, c.until)
		return
	}
	c.resting = c.trial != ""
	e.set(&c.alarm, c.until)
}

func (l *loading) joinKeys() {
	e := l.engine
	for _, k := range l.keys {
		for i, r := range k.records {
			if now := e.leases[r.id]; now != nil {
				k.records[i] = now
			} else if r.ended == nil {
				r.ended = ErrUnknown // it was given back
			}
		}
		e.client(k.client).addKey(k)
		if k.forgetAt > 0 {
			e.set(&k.alarm, k.forgetAt)
		}
	}
}
