package main

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
)

const (
	healthEvery = 500 * time.Millisecond
	// sayAgain is when a verdict that does not show in the status is told again.
	sayAgain = 5 * time.Second
)

// prober tells the workflows whether their proxies can be reached, as the real one
// does: a first verdict, a flip, and again what does not show in the status.
type prober struct {
	observer  *observer
	signaller *starter.Signaller

	mu   sync.Mutex
	said map[string]saying // by UID
}

type saying struct {
	incarnation int64
	healthy     bool
	at          time.Time
}

// run probes until ctx ends.
func (p *prober) run(ctx context.Context) {
	for linger(ctx, healthEvery) == nil {
		var probes sync.WaitGroup
		for _, s := range p.observer.all() {
			if s.now.Status.IP != "" && s.now.Status.Current() != nil {
				probes.Go(func() { p.probe(ctx, s) })
			}
		}
		probes.Wait()
	}
}

func (p *prober) probe(ctx context.Context, s subject) {
	status := &s.now.Status
	is := saying{incarnation: status.Current().Incarnation, healthy: reachable(ctx, status.IP, status.Port), at: time.Now()}
	shows := status.IsTrue(crawl.ConditionHealthy) == is.healthy && (is.healthy || status.Phase == crawl.PhaseUnhealthy)
	p.mu.Lock()
	was := p.said[s.ref.UID]
	p.mu.Unlock()
	same := was.incarnation == is.incarnation && was.healthy == is.healthy
	if shows || ctx.Err() != nil || same && time.Since(was.at) < sayAgain {
		return
	}
	h := wire.Health{Incarnation: is.incarnation, Healthy: is.healthy, Verdict: "dead", ProbedAt: is.at}
	if is.healthy {
		h.Verdict, h.ExitIP, h.LatencyMillis = "healthy", status.IP, 1
	}
	if p.signaller.Health(ctx, s.ref, h) != nil {
		return // Temporal is down; the next round tells it
	}
	p.observer.note(s.ref.UID, "health  %s is told of incarnation %d", h.Verdict, h.Incarnation)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[s.ref.UID] = is
}

func reachable(ctx context.Context, ip string, port int32) bool {
	d := net.Dialer{Timeout: 2 * time.Second}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(int(port))))
	if err != nil {
		return false
	}
	return c.Close() == nil
}
