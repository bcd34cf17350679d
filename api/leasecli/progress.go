package leasecli

import (
	"sync"
	"time"

	"example.com/fairlead/api/client"
)

// quiet is how long a person waits before a command says what takes its time.
const quiet = time.Second

// progress says on standard error, once each, what takes a command its time.
type progress struct {
	tell func(...any)
	url  string

	mu sync.Mutex
	// failing is since when the API cannot be used.
	failing     time.Time
	unreachable sync.Once
	// waiting says that a proxy is waited for; nil if none is.
	waiting *time.Timer
}

// retrying is told of each attempt that failed and is made again.
func (p *progress) retrying(err error, pause time.Duration, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing.IsZero() {
		p.failing = time.Now()
	}
	if p.waiting != nil && p.waiting.Stop() { // not yet: the API is what is waited for
		p.waiting.Reset(pause + quiet)
	}
	if time.Since(p.failing)+pause >= quiet {
		p.unreachable.Do(func() {
			p.tell("fairlead: the API at", p.url, "cannot be used, and is tried again until", until.Format(time.TimeOnly)+":", err)
		})
	}
}

// wait says after a while that a proxy is waited for, until the function that it returns is
// called.
func (p *progress) wait(d time.Duration) (stop func()) {
	if d < quiet {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = time.AfterFunc(quiet, func() { p.tell("fairlead: waiting up to", d, "for a proxy ...") })
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting.Stop()
	}
}

// moved says which session has another proxy than before, and why.
func (p *progress) moved(leases ...*client.Lease) {
	for _, l := range leases {
		if g := l.Grant(); g.SessionMoved != "" {
			p.tell("fairlead: session", g.Session, "moved to", g.Proxy.Namespace+"/"+g.Proxy.Name+":", g.SessionMoved)
		}
	}
}
