package lease

import "time"

// Lookup returns a lease that is active or can still be reported on.
func (s *Store) Lookup(id string) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	r, ok := s.leases[id]
	if !ok {
		return Lease{}, ErrUnknown
	}
	return r.Lease, nil
}

// Release ends a lease. Releasing it again, or one that never was, is no error.
func (s *Store) Release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	r, ok := s.leases[id]
	if !ok {
		return
	}
	if r.ended == nil {
		s.end(r, ErrUnknown, now)
	}
	delete(s.leases, id)
}

// Renew lets an active lease last ttl from now, or its own TTL when ttl is 0, and
// says whether its proxy is healthy. A lease that is over stays over: its slot may
// be somebody else's.
func (s *Store) Renew(id string, ttl time.Duration) (l Lease, healthy bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	r, ok := s.leases[id]
	if !ok {
		return Lease{}, false, ErrUnknown
	}
	if r.ended != nil {
		return Lease{}, false, r.ended
	}
	if ttl > 0 {
		r.TTL = ttl
	}
	r.ExpiresAt = now.Add(r.TTL)
	s.wakeBy(r.ExpiresAt)
	return r.Lease, s.fleet[r.Proxy.UID].Healthy, nil
}

// Report takes in what the client of a lease has seen. A ban or a rate limit rests
// the proxy for the target: the report's, else the lease's, else the one of leases
// without a target. A lease that ended lately may still be reported on; when its
// proxy is gone, so is what the report would rest.
func (s *Store) Report(id string, result Result, target string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	r, ok := s.leases[id]
	if !ok {
		return ErrUnknown
	}
	if target == "" {
		target = r.Target
	}
	p, ok := s.fleet[r.Proxy.UID]
	if result == ResultOK || !ok || !p.sameAddress(r.Proxy) {
		return nil
	}
	until := now.Add(s.cooldown)
	p.rests[target] = until
	s.wakeBy(until)
	return nil
}
