package leasecli

import (
	"sync"
	"time"

	"example.com/fairlead/api/cli"
	"example.com/fairlead/api/client"
)

// progress says on standard error, once each, what takes a command its time.
type progress struct {
	tell func(...any)

	mu sync.Mutex
	// waiting says that a proxy is waited for; nil if none is.
	waiting *time.Timer
}

// retrying is told that the API is asked again after a pause.
func (p *progress) retrying(pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != nil && p.waiting.Stop() { // not yet: the API is what is waited for
		p.waiting.Reset(pause + cli.Quiet)
	}
}

// wait says after a while that a proxy is waited for, until the function that it returns is
// called.
func (p *progress) wait(d time.Duration) (stop func()) {
	if d < cli.Quiet {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = time.AfterFunc(cli.Quiet, func() { p.tell("fairlead: waiting up to", d, "for a proxy ...") })
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
