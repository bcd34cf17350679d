package lease

import (
	"cmp"
	"container/list"
	"slices"
	"time"
)

const (
	// reportableFor is how long a lease that ended by itself may still be reported on: late
	// reports come just when it matters.
	reportableFor = 10 * time.Minute
	// maxTargets is on how many targets one lease may report something bad.
	maxTargets = 64
)

// record is a lease, or one that ended lately. What is told of it is a Lease.
type record struct {
	id        string
	client    string
	target    string
	session   string
	exclusive bool
	trial     bool
	// proxy as it was when it was lent.
	proxy     *lent
	ttl       time.Duration
	granted   moment
	grantedAt time.Time
	expires   moment
	// ended is why the lease is over; nil while it is active. It has a place among those of
	// its client then.
	ended error
	place *list.Element
	// reported are the targets that it said something bad of.
	reported []string
	// key by which it was asked for; empty if by none.
	key string
	// before is what undoing its grant restores.
	before before
	// alarm is its end, and then when it is forgotten.
	alarm alarm
}

// before is how it was before a grant.
type before struct {
	// bound is what its session was bound to; nil if that was new.
	bound *lent
	// spent is when its target's budget was last spent of.
	spent moment
}

func (r *record) older(o *record) int {
	return cmp.Or(cmp.Compare(r.granted, o.granted), cmp.Compare(r.id, o.id))
}

func (e *Engine) tell(r *record) Lease { return r.lease(r.ttl, e.wall(r.expires)) }

// lease is what is told of r; the arguments are what changes while it is active.
func (r *record) lease(ttl time.Duration, expiresAt time.Time) Lease {
	return Lease{
		ID: r.id, Client: r.client, Target: r.target, Session: r.session, Exclusive: r.exclusive, Trial: r.trial,
		Proxy: r.proxy.Candidate, TTL: ttl, GrantedAt: r.grantedAt, ExpiresAt: expiresAt,
	}
}

// lend makes a lease of p, which has room for it.
func (e *Engine) lend(p *proxy, req *Request, now moment) *record {
	r := &record{
		id: e.NewID(), client: req.Client, target: req.Target, session: req.Session, exclusive: req.Exclusive,
		proxy: p.asLent(), ttl: req.TTL, granted: now, grantedAt: e.Clock.Now(), expires: now + req.TTL, key: req.Key,
	}
	r.alarm.rings = r
	e.touch(p, func() {
		p.leases[r] = struct{}{}
		p.exclusive = r.exclusive
		e.beginTrial(p, r)
	})
	e.leases[r.id] = r
	e.active++
	c := e.client(r.client)
	c.active++
	c.granted(now)
	r.before.spent = e.spend(r.target, now)
	e.set(&r.alarm, r.expires)
	e.change(r.change())
	return r
}

// ring is the end of an active lease, and of the memory of one that ended.
func (r *record) ring(e *Engine, now moment) {
	if r.ended != nil {
		e.forget(r)
		return
	}
	p := e.fleet.proxies[r.proxy.UID]
	e.end(r, ErrExpired, r.expires)
	if p != nil {
		e.offer(p, now)
	}
}

// end keeps r for a while, so that its client learns why it ended and may still report.
// The slot is the caller's to offer.
func (e *Engine) end(r *record, why error, now moment) {
	e.over(r, now)
	r.ended = why
	e.set(&r.alarm, now+reportableFor)
	e.change(r.change())
	c := e.client(r.client)
	for r.place = c.ended.PushBack(r); c.ended.Len() > maxEnded; {
		oldest, _ := c.ended.Front().Value.(*record)
		e.forget(oldest)
	}
}

// over takes r, which is active, from all that counts it.
func (e *Engine) over(r *record, now moment) {
	e.active--
	e.client(r.client).active--
	if p := e.fleet.proxies[r.proxy.UID]; p != nil {
		e.touch(p, func() {
			delete(p.leases, r)
			if r.exclusive {
				p.exclusive = false
			}
			e.endTrial(p, r)
		})
		e.noticeIfDrained(p)
	}
	e.sessionLeaseOver(r, now)
	e.keyLeaseOver(r, now)
}

func (e *Engine) forget(r *record) {
	e.unset(&r.alarm)
	if r.place != nil {
		e.client(r.client).ended.Remove(r.place)
	}
	delete(e.leases, r.id)
	e.change(Change{Kind: kindLease, Key: r.id})
}

var endings = []error{nil, ErrExpired, ErrProxyGone, ErrUnknown}

func (r *record) change() Change {
	return Change{Kind: kindLease, Key: r.id, Value: r.append(newForm())}
}

func (r *record) append(b []byte) []byte {
	b = appendText(b, r.client)
	b = appendText(b, r.target)
	b = appendText(b, r.session)
	b = appendText(b, r.key)
	b = appendFlag(appendFlag(b, r.exclusive), r.trial)
	b = appendNumber(appendNumber(b, int64(r.ttl)), int64(r.granted))
	b = appendNumber(appendNumber(b, r.grantedAt.UnixMilli()), int64(r.expires))
	b = appendNumber(appendNumber(b, int64(slices.Index(endings, r.ended))), int64(r.alarm.at))
	b = appendTexts(b, r.reported)
	return append(b, r.proxy.form...)
}

func readRecord(id string, f *form) *record {
	r := &record{id: id, client: f.text(), target: f.text(), session: f.text(), key: f.text(), exclusive: f.flag(), trial: f.flag()}
	r.ttl, r.granted = f.moment(), f.moment()
	r.grantedAt, r.expires = time.UnixMilli(f.number()), f.moment()
	if why := f.number(); why >= 0 && why < int64(len(endings)) {
		r.ended = endings[why]
	} else {
		f.fail()
	}
	r.alarm.at, r.alarm.rings = f.moment(), r
	r.reported = f.texts()
	r.proxy = readLent(f)
	return r
}
