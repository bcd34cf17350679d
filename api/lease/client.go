package lease

import (
	"math"
	"time"
)

const (
	// maxKeys and maxSessions are what is remembered for one client.
	maxKeys     = 100_000
	maxSessions = 100_000
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
	// waiting: it has not been granted yet.
	waiting bool
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
	case k == nil && len(c.keys) >= maxKeys:
		return nil, ErrTooManyKeys
	case k == nil:
		return nil, nil
	case k.fingerprint != req.Fingerprint:
		return nil, ErrKeyReused
	case k.waiting:
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
	e.client(req.Client).keys[req.Key] = k
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
	delete(e.client(k.client).keys, k.key)
	e.change(Change{Kind: kindKey, Key: keyOf(k.client, k.key)})
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
	return k
}
