package lease

// sessionID is unique for each client.
type sessionID struct{ client, name string }

// session is the proxy that a client comes back to.
type session struct {
	id sessionID
	// of is the proxy as it was bound: another address is another proxy.
	of *lent
	// leases that are active.
	leases int
	// idleUntil is when it is forgotten, if it has no leases.
	idleUntil moment
	alarm     alarm
}

// sessionProxy is the proxy that the session of req is bound to. Moved says why it must
// have another one; both are empty for a new session.
func (e *Engine) sessionProxy(req *Request) (p *proxy, moved string) {
	s := e.sessions[sessionID{req.Client, req.Session}]
	if s == nil {
		return nil, ""
	}
	p = e.fleet.proxies[s.of.UID]
	switch {
	case p == nil || !p.sameAddress(s.of.Candidate):
		return nil, MovedGone
	case p.Draining:
		return nil, MovedDraining
	case !p.lendable():
		return nil, MovedUnhealthy
	case p.rests(req.Target):
		return nil, MovedCooldown
	}
	return p, ""
}

// bind has the session of r, if it has one, come back to p.
func (e *Engine) bind(p *proxy, r *record) {
	if r.session == "" {
		return
	}
	id := sessionID{r.client, r.session}
	s := e.sessions[id]
	if s == nil {
		s = &session{id: id}
		s.alarm.rings = s
		e.sessions[id] = s
		e.client(id.client).sessions++
	}
	r.before.bound = s.of
	e.unset(&s.alarm)
	s.leases++
	s.of, s.idleUntil = p.asLent(), 0
	e.change(s.change())
}

// unbind has the session of r, which is over, come back to what it did before r.
func (e *Engine) unbind(r *record) {
	s := e.sessions[sessionID{r.client, r.session}]
	switch {
	case r.session == "" || s == nil || s.of != r.proxy: // it has another one since
	case r.before.bound != nil:
		s.of = r.before.bound
		e.change(s.change())
	case s.leases == 0:
		e.forgetSession(s)
	}
}

func (e *Engine) sessionLeaseOver(r *record, now moment) {
	s := e.sessions[sessionID{r.client, r.session}]
	if r.session == "" || s == nil {
		return
	}
	s.leases--
	if s.leases > 0 {
		return
	}
	s.idleUntil = now + e.SessionIdle
	e.set(&s.alarm, s.idleUntil)
	e.change(s.change())
}

func (s *session) ring(e *Engine, _ moment) { e.forgetSession(s) }

func (e *Engine) forgetSession(s *session) {
	e.unset(&s.alarm)
	delete(e.sessions, s.id)
	e.client(s.id.client).sessions--
	e.change(Change{Kind: kindSession, Key: s.key()})
}

func (s *session) key() string { return keyOf(s.id.client, s.id.name) }

func (s *session) change() Change {
	b := appendText(appendText(newForm(), s.id.client), s.id.name)
	b = appendNumber(append(b, s.of.form...), int64(s.idleUntil))
	return Change{Kind: kindSession, Key: s.key(), Value: b}
}

func readSession(f *form) *session {
	s := &session{id: sessionID{f.text(), f.text()}, of: readLent(f), idleUntil: f.moment()}
	s.alarm.rings = s
	return s
}
