package lease

// lastEnded remembers that a proxy has no lease any more, until somebody asks.
func (s *Store) lastEnded(uid string) {
	s.idle[uid] = true
	select {
	case s.idled <- struct{}{}:
	default: // it is ready already
	}
}

// Idled is ready when the last lease of a proxy has ended. A lease that expires
// ends when anybody looks: Idle does.
func (s *Store) Idled() <-chan struct{} { return s.idled }

// Idle returns the proxies whose last lease ended since it was called last, and
// that have none now.
func (s *Store) Idle() []Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	var idle []Candidate
	for uid := range s.idle {
		if p, ok := s.fleet[uid]; ok && p.active == 0 {
			idle = append(idle, p.clone())
		}
	}
	clear(s.idle)
	return idle
}
