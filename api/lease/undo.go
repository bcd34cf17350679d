package lease

import "context"

// Undo takes back what req was granted, for whoever finds that nobody can use it: its
// leases end, its key is free again, and its session, its budget and its client's turn are
// as before. What the key has brought somebody else by now is theirs, and stays.
func (e *Engine) Undo(_ context.Context, req Request, g Grant) error {
	now, err := e.begin()
	if err != nil {
		return err
	}
	e.undo(&req, g, now)
	return e.finish()
}

// giveBack releases what nobody is there to use.
func (e *Engine) giveBack(w *waiter, why error) error {
	now, err := e.begin()
	if err != nil {
		return why
	}
	e.undo(w.req, w.grant, now)
	if err := e.finish(); err != nil {
		return err
	}
	return why
}

func (e *Engine) undo(req *Request, g Grant, now moment) {
	k := e.grantedKey(req, g)
	if g.Repeated || k != nil && k.told {
		return
	}
	for _, l := range g.Leases {
		if r := e.leases[l.ID]; r != nil && r.ended == nil {
			e.ungrant(r, now)
		}
	}
	if k != nil {
		e.forgetKey(k)
	}
}

// ungrant has it that r never was.
func (e *Engine) ungrant(r *record, now moment) {
	e.drop(r, now)
	e.unbind(r)
	e.unspend(r, now)
	e.client(r.client).ungranted(r.granted)
	if p := e.fleet.proxies[r.proxy.UID]; p != nil {
		e.offer(p, now)
	}
}

// grantedKey is the key under which a grant is remembered, nil if there is none.
func (e *Engine) grantedKey(req *Request, g Grant) *keyed {
	k := e.client(req.Client).keys[req.Key]
	if k == nil || k.waiting > 0 || k.records[0].id != g.Leases[0].ID {
		return nil
	}
	return k
}
