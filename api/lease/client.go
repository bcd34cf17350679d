package lease

import (
	"container/list"
	"math"
	"time"
)

const (
	// maxKept, maxSessions and maxEnded are what is remembered for one client: leases by their
	// keys, sessions, and leases that ended.
	maxKept     = 100_000
	maxSessions = 100_000
	maxEnded    = 100_000
	// keyKept is how long a key outlives its leases.
	keyKept = 10 * time.Minute
	// recentHalf is when a grant counts half as recent.
	recentHalf = 30 * time.Second
)

// client is who leases, by the name of its token.
type client struct {
	// active leases, and those that its waiting requests ask for.
	active, claimed int
	waiting         int
	sessions        int
	keys            map[string]*keyed
	// kept counts the leases that its keys remember, or will.
	kept int
	// ended are its leases that can still be reported on, the first one to be forgotten in
	// front.
	ended list.List
	// heat is the logarithm of its recent grants, each of which counts half as much after
	// recentHalf, as of when the engine began: so it only changes with a grant.
	heat float64
}

func (e *Engine) client(name string) *client {
	c := e.clients[name]
	if c == nil {
		c = &client{keys: map[string]*keyed{}, heat: math.Inf(-1)}
		e.clients[name] = c
	}
	return c
}

func (c *client) granted(now moment) {
	halves := float64(now) / float64(recentHalf)
	c.heat = halves + math.Log2(1+math.Exp2(c.heat-halves))
}

// ungranted is the reverse of granted.
func (c *client) ungranted(at moment) {
	halves := float64(at) / float64(recentHalf)
	c.heat += math.Log2(max(0, 1-math.Exp2(halves-c.heat)))
}

// room is how many more leases the quota allows, and an error when that is less than n.
func (c *client) room(q Quota, n int) (int, error) {
	if q.Leases <= 0 {
		return math.MaxInt, nil
	}
	room := q.Leases - c.active - c.claimed
	if room < n {
		return 0, &QuotaError{What: "leases", Limit: q.Leases}
	}
	return room, nil
}

// keyed is what a request with a key got.
type keyed struct {
	client, key string
	fingerprint string
	// waiting leases, when it has not been granted yet.
	waiting int
	// told: a request that repeats it got the same.
	told    bool
	records []*record
	moved   string
	// forgetAt is set when its last lease has ended.
	forgetAt moment
	alarm    alarm
}

// repeated is what an earlier request with the key of req got, nil if there was none.
func (e *Engine) repeated(c *client, req *Request) (*Grant, error) {
	k := c.keys[req.Key]
	switch {
	case k == nil && c.kept+max(req.Count, 1) > maxKept:
		return nil, ErrTooManyKeys
	case k == nil:
		return nil, nil
	case k.fingerprint != req.Fingerprint:
		return nil, ErrKeyReused
	case k.waiting > 0:
		return nil, ErrKeyInUse
	}
	k.told = true
	g := &Grant{Moved: k.moved, Repeated: true}
	for _, r := range k.records {
		g.Leases = append(g.Leases, e.tell(r))
	}
	return g, nil
}

// remember keeps what a request with a key got.
func (e *Engine) remember(req *Request, records []*record, moved string) {
	if req.Key == "" {
		return
	}
	k := &keyed{client: req.Client, key: req.Key, fingerprint: req.Fingerprint, records: records, moved: moved}
	k.alarm.rings = k
	e.client(req.Client).addKey(k)
	e.change(k.change())
}

// keyLeaseOver lets the key of r go a while after the last of its leases.
func (e *Engine) keyLeaseOver(r *record, now moment) {
	k := e.client(r.client).keys[r.key]
	if r.key == "" || k == nil {
		return
	}
	for _, o := range k.records {
		if o != r && o.ended == nil && e.leases[o.id] == o {
			return
		}
	}
	k.forgetAt = now + keyKept
	e.set(&k.alarm, k.forgetAt)
	e.change(k.change())
}

func (k *keyed) ring(e *Engine, _ moment) { e.forgetKey(k) }

func (e *Engine) forgetKey(k *keyed) {
	e.unset(&k.alarm)
	e.client(k.client).dropKey(k)
	e.change(Change{Kind: kindKey, Key: keyOf(k.client, k.key)})
}

// addKey keeps what k says in place of what was known of its key.
func (c *client) addKey(k *keyed) {
	if former := c.keys[k.key]; former != nil {
		c.dropKey(former)
	}
	c.keys[k.key] = k
	c.kept += len(k.records) + k.waiting
}

func (c *client) dropKey(k *keyed) {
	delete(c.keys, k.key)
	c.kept -= len(k.records) + k.waiting
}

func (k *keyed) change() Change {
	b := appendText(appendText(newForm(), k.client), k.key)
	b = appendText(appendText(b, k.fingerprint), k.moved)
	b = appendNumber(appendNumber(b, int64(k.forgetAt)), int64(len(k.records)))
	for _, r := range k.records {
		b = r.append(appendText(b, r.id))
	}
	return Change{Kind: kindKey, Key: keyOf(k.client, k.key), Value: b}
}

func readKeyed(f *form) *keyed {
	k := &keyed{client: f.text(), key: f.text(), fingerprint: f.text(), moved: f.text(), forgetAt: f.moment()}
	k.alarm.rings = k
	for range f.count() {
		id := f.text()
		k.records = append(k.records, readRecord(id, f))
	}
	if len(k.records) == 0 {
		f.fail()
	}
	return k
}
