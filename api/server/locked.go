package server

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"example.com/fairlead/api/crawl/secrets"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// asideFor is how long a proxy is not lent whose credentials cannot be used: a Secret
// that was mended counts after it.
const asideFor = 5 * time.Second

// lockedProxy is the error of a proxy that cannot be lent, since nobody can read
// what it asks its clients for.
type lockedProxy struct {
	proxy string
	err   error
}

func (e *lockedProxy) Error() string { return "proxy " + e.proxy + " cannot be lent: " + e.err.Error() }

func (e *lockedProxy) Unwrap() error { return e.err }

// errRotated is a state that ends by itself, unless the Proxy is paused.
var errRotated = errors.New("its Secret was changed, and its instance still asks for the former credentials until it is replaced")

// current says whether the instance of p asks for these credentials. Those of an
// External proxy are its operator's business.
func current(p *crawl.Proxy, c *secrets.Credentials) bool {
	return c == nil || p.Spec.Mode == crawl.ModeExternal || c.Version == p.Status.CredentialsVersion
}

// passing says whether other proxies may be lent instead: what cannot be read just now
// says nothing about the proxy.
func (e *lockedProxy) passing() bool {
	return !errors.Is(e, secrets.ErrUnusable) && !errors.Is(e, errRotated)
}

// remedy says what is to be done about a proxy that was passed over.
func (e *lockedProxy) remedy() string {
	if e == nil {
		return ""
	}
	if errors.Is(e, errRotated) {
		return "; " + e.Error()
	}
	return fmt.Sprintf(`; %v; its authSecretRef must name a Secret with the label %s: "true" and the keys %s and %s`,
		e, crawl.LabelCloudInit, crawl.SecretKeyUsername, crawl.SecretKeyPassword)
}

// locked remembers why proxies were set aside, for the requests that find none but those.
type locked struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	notes []lockedNote
}

type lockedNote struct {
	proxy *crawl.Proxy
	err   *lockedProxy
	until time.Time
}

// note keeps why p was set aside, as long as it is. Proxies that share a Secret are noted
// by one of them, so there are never many.
func (l *locked) note(p *crawl.Proxy, err *lockedProxy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.notes = append(l.notes, lockedNote{p, err, l.clock.Now().Add(asideFor)})
}

// why returns the reason of one proxy that has the attributes and is set aside, nil if
// none is known.
func (l *locked) why(selector map[string]string) *lockedProxy {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	for _, n := range l.notes {
		if (filter{attributes: selector}).matches(n.proxy) {
			return n.err
		}
	}
	return nil
}

func (l *locked) forget() {
	now := l.clock.Now()
	for len(l.notes) > 0 && !now.Before(l.notes[0].until) {
		l.notes = l.notes[1:]
	}
}
