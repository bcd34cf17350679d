package lease

import "fmt"

// notices are what the workflows of proxies should look at, until somebody takes them.
type notices struct {
	by    map[string]Notice
	ready chan struct{}
}

func newNotices() notices { return notices{map[string]Notice{}, make(chan struct{}, 1)} }

func (n *notices) add(notice Notice) {
	n.by[notice.Proxy.UID] = notice
	select {
	case n.ready <- struct{}{}:
	default: // it is ready already
	}
}

func (n *notices) forget(uid string) { delete(n.by, uid) }

// Noticed is ready when there are Notices.
func (e *Engine) Noticed() <-chan struct{} { return e.notices.ready }

// Notices returns those since it was called last, the latest of each proxy.
func (e *Engine) Notices() []Notice {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]Notice, 0, len(e.notices.by))
	for _, n := range e.notices.by {
		all = append(all, n)
	}
	clear(e.notices.by)
	return all
}

func (e *Engine) noticeIfDrained(p *proxy) {
	if p.Draining && len(p.leases) == 0 {
		e.notices.add(Notice{Proxy: p.Candidate})
	}
}

func (e *Engine) noticeIfBanned(p *proxy, now moment) {
	if p.Bans.Count > 0 && !p.Draining && p.bansWithin(now) >= p.Bans.Count {
		e.notices.add(Notice{Proxy: p.Candidate, Banned: true})
	}
}

// countBan remembers a ban, as far as the limit of p needs it.
func (e *Engine) countBan(p *proxy, now moment) {
	if p.Bans.Count <= 0 {
		return
	}
	p.bans = append(p.bans, now)
	if n := len(p.bans) - p.Bans.Count; n > 0 {
		p.bans = p.bans[n:]
	}
	e.change(p.bansChange())
	e.noticeIfBanned(p, now)
}

// bansWithin counts the bans that matter by now.
func (p *proxy) bansWithin(now moment) int {
	if p.Bans.Count <= 0 {
		return 0
	}
	n := 0
	for _, at := range p.bans {
		if now-at <= p.Bans.Window {
			n++
		}
	}
	return n
}

func (p *proxy) bansChange() Change {
	if len(p.bans) == 0 {
		return Change{Kind: kindBans, Key: p.UID}
	}
	b := appendNumber(append(newForm(), p.asLent().form...), int64(len(p.bans)))
	for _, at := range p.bans {
		b = appendNumber(b, int64(at))
	}
	return Change{Kind: kindBans, Key: p.UID, Value: b}
}

// readBans reads bans, and returns the proxy that they are of.
func readBans(f *form) (of Candidate, bans []moment, err error) {
	of = readLent(f).Candidate
	for range f.count() {
		bans = append(bans, f.moment())
	}
	if err := f.end(); err != nil {
		return of, nil, fmt.Errorf("bans of %s: %w", of.Key, err)
	}
	return of, bans, nil
}
