package lease

import "maps"

// memories are sessions and keys.
func (c *checker) memories() {
	held := map[sessionID]int{}
	for _, r := range c.Engine.leases {
		if r.ended == nil && r.session != "" {
			held[sessionID{r.client, r.session}]++
		}
	}
	for id, s := range c.sessions {
		c.equal("leases of session "+id.name, held[id], s.leases)
		delete(held, id)
		if s.leases == 0 {
			c.rings("session "+id.name, &s.alarm, s.idleUntil)
		}
	}
	if len(held) > 0 {
		c.no("sessions %v have leases, and are not known", held)
	}
	for name, cl := range c.Engine.clients {
		for key, k := range cl.keys {
			c.key(name+" "+key, k)
		}
	}
}

func (c *checker) key(what string, k *keyed) {
	if k.waiting > 0 {
		return
	}
	over := true
	for _, r := range k.records {
		over = over && (r.ended != nil || c.Engine.leases[r.id] != r)
	}
	switch {
	case over:
		c.rings("key "+what, &k.alarm, k.forgetAt)
	case k.alarm.index > 0 || k.forgetAt > 0:
		c.no("key %s is to be forgotten before its leases", what)
	}
}

func (c *checker) clients() {
	type sums struct{ active, claimed, waiting, sessions, kept, ended int }
	want, got := map[string]sums{}, map[string]sums{}
	for name, cl := range c.Engine.clients {
		got[name] = sums{cl.active, cl.claimed, cl.waiting, cl.sessions, cl.kept, cl.ended.Len()}
		var s sums
		for _, k := range cl.keys {
			s.kept += len(k.records) + k.waiting
		}
		want[name] = s
	}
	for _, r := range c.Engine.leases {
		s := want[r.client]
		if r.ended == nil {
			s.active++
		} else {
			s.ended++
		}
		want[r.client] = s
	}
	for w := range c.allWaiters() {
		s := want[w.req.Client]
		s.claimed += w.count
		s.waiting++
		want[w.req.Client] = s
	}
	for id := range c.sessions {
		s := want[id.client]
		s.sessions++
		want[id.client] = s
	}
	if !maps.Equal(want, got) {
		c.no("the clients are %v, want %v", got, want)
	}
}
