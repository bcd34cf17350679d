package lease

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// DefaultCooldown is how long a proxy is not lent for a target that banned or
// limited it.
const DefaultCooldown = 10 * time.Minute

// Options of a Store. The zero value works.
type Options struct {
	Clock clock.PassiveClock
	// Cooldown is both how long a proxy rests for a target and how long an ended
	// lease can still be reported on: late reports come just when it matters.
	Cooldown time.Duration
	// NewID makes the id of a lease, which must not be guessable.
	NewID func() string
}

// Store holds the leases of one process in memory. It is safe for concurrent use.
type Store struct {
	clock    clock.PassiveClock
	cooldown time.Duration
	newID    func() string

	mu sync.Mutex
	// fleet by UID.
	fleet map[string]*proxy
	// leases by id, the ended ones included until nobody may report on them any more.
	leases map[string]*record
	// settleAt is the earliest time at which a lease or a cooldown changes by itself.
	settleAt time.Time
	// idle are the UIDs of proxies whose last lease ended since somebody asked.
	idle map[string]bool
	// idled is ready when there are any.
	idled chan struct{}
}

type proxy struct {
	Candidate
	active int
	// rests maps a target to the time until which the proxy is not lent for it.
	rests map[string]time.Time
}

type record struct {
	Lease
	// ended is why the lease is over, nil while it is active.
	ended error
	// forgetAt is when an ended lease is forgotten.
	forgetAt time.Time
}

// New returns an empty Store.
func New(o Options) *Store {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Cooldown == 0 {
		o.Cooldown = DefaultCooldown
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return &Store{
		clock: o.Clock, cooldown: o.Cooldown, newID: o.NewID,
		fleet: map[string]*proxy{}, leases: map[string]*record{},
		idle: map[string]bool{}, idled: make(chan struct{}, 1),
	}
}

// Sync makes candidates the whole fleet. A proxy that is not among them, or has
// another address, ends its leases and forgets its cooldowns: bans were the old
// address's. Callers must not pass an older view after a newer one.
func (s *Store) Sync(candidates []Candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	fleet := make(map[string]*proxy, len(candidates))
	for _, c := range candidates {
		p, known := s.fleet[c.UID]
		if !known || !p.sameAddress(c) {
			p = &proxy{rests: map[string]time.Time{}}
		}
		p.Candidate = c.clone()
		fleet[c.UID] = p
	}
	for uid, old := range s.fleet {
		if fleet[uid] != old {
			s.endAll(uid, now)
		}
	}
	s.fleet = fleet
	maps.DeleteFunc(s.idle, func(uid string, _ bool) bool { return fleet[uid] == nil })
}

func (s *Store) endAll(uid string, now time.Time) {
	for _, r := range s.leases {
		if r.Proxy.UID == uid && r.ended == nil {
			s.end(r, ErrProxyGone, now)
		}
	}
}

// end keeps r for a while, so that its client learns why and may still report.
func (s *Store) end(r *record, why error, at time.Time) {
	r.ended, r.forgetAt = why, at.Add(s.cooldown)
	s.wakeBy(r.forgetAt)
	if p, ok := s.fleet[r.Proxy.UID]; ok {
		if p.active--; p.active == 0 {
			s.lastEnded(p.UID)
		}
	}
}

func (s *Store) wakeBy(t time.Time) {
	if s.settleAt.IsZero() || t.Before(s.settleAt) {
		s.settleAt = t
	}
}

// settle lets the past happen: it ends what expired and forgets what is over. All
// that reads or changes the Store does it first, so no timer is needed.
func (s *Store) settle() time.Time {
	now := s.clock.Now()
	if s.settleAt.IsZero() || now.Before(s.settleAt) {
		return now
	}
	s.settleAt = time.Time{}
	for id, r := range s.leases {
		if r.ended == nil && !now.Before(r.ExpiresAt) {
			s.end(r, ErrExpired, r.ExpiresAt)
		}
		switch {
		case r.ended == nil:
			s.wakeBy(r.ExpiresAt)
		case now.Before(r.forgetAt):
			s.wakeBy(r.forgetAt)
		default:
			delete(s.leases, id)
		}
	}
	for _, p := range s.fleet {
		for target, until := range p.rests {
			if now.Before(until) {
				s.wakeBy(until)
				continue
			}
			delete(p.rests, target)
		}
	}
	return now
}

// Acquire lends the matching healthy proxy with the fewest active leases, then the
// lowest latency, then the first name. It returns *ErrNoMatch when there is none.
func (s *Store) Acquire(req Request) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	best, none := s.pick(req)
	if best == nil {
		return Lease{}, none
	}
	l := Lease{
		ID: s.newID(), Client: req.Client, Target: req.Target, Proxy: best.clone(),
		TTL: req.TTL, GrantedAt: now, ExpiresAt: now.Add(req.TTL),
	}
	s.leases[l.ID] = &record{Lease: l}
	best.active++
	s.wakeBy(l.ExpiresAt)
	return l, nil
}

func (s *Store) pick(req Request) (*proxy, *ErrNoMatch) {
	var best *proxy
	none := &ErrNoMatch{}
	for _, p := range s.fleet {
		if !p.matches(req.Selector) {
			continue
		}
		none.Considered++
		_, resting := p.rests[req.Target]
		switch {
		case !p.Healthy:
			none.Unhealthy++
		case p.active >= p.MaxLeases:
			none.AtCapacity++
		case resting:
			none.InCooldown++
		case req.Unusable[p.UID]:
			none.Unusable++
		case best == nil || better(p, best) < 0:
			best = p
		}
	}
	return best, none
}

func better(a, b *proxy) int {
	return cmp.Or(cmp.Compare(a.active, b.active), cmp.Compare(a.LatencyMillis, b.LatencyMillis), cmp.Compare(a.Key, b.Key))
}

// Counts returns the number of active leases by the proxy's UID.
func (s *Store) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	counts := make(map[string]int, len(s.fleet))
	for uid, p := range s.fleet {
		if p.active > 0 {
			counts[uid] = p.active
		}
	}
	return counts
}

// List returns the active leases, the oldest first.
func (s *Store) List() []Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	leases := make([]Lease, 0, len(s.leases))
	for _, r := range s.leases {
		if r.ended == nil {
			leases = append(leases, r.Lease)
		}
	}
	slices.SortFunc(leases, func(a, b Lease) int {
		return cmp.Or(a.GrantedAt.Compare(b.GrantedAt), cmp.Compare(a.ID, b.ID))
	})
	return leases
}
