package client

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Lease is the right to use one proxy for a while. It renews itself until Close or Detach,
// one of which must be called. It is safe for concurrent use.
type Lease struct {
	client *Client
	grant  Grant
	target string

	// own ends with the lease, and its cause says why.
	own context.Context
	end context.CancelCauseFunc
	// kept is closed when nobody renews the lease any more.
	kept    chan struct{}
	reports *reporter
	// closing lets one at a time release.
	closing  chan struct{}
	released bool

	mu    sync.Mutex
	state state
}

// state is what renewals change.
type state struct {
	ttl time.Duration
	// renewed is when the last renewal was sent, and over when the lease must not be used any
	// more, both on the clock of this process.
	renewed, over     time.Time
	healthy, draining bool
}

// newLease is a lease whose request was sent at that time. Nobody keeps it yet.
func newLease(c *Client, g Grant, target string, sent time.Time) *Lease {
	own, end := context.WithCancelCause(context.Background())
	l := &Lease{
		client: c, grant: g, target: target, own: own, end: end,
		kept: make(chan struct{}), closing: make(chan struct{}, 1),
		state: state{ttl: g.ttl(), renewed: sent, over: sent.Add(usable(g.ttl())), healthy: true},
	}
	l.reports = newReporter(l)
	return l
}

// ID of the lease.
func (l *Lease) ID() string { return l.grant.LeaseID }

// Proxy that was lent.
func (l *Lease) Proxy() Proxy { return l.grant.Proxy }

// Grant is the answer that granted the lease.
func (l *Lease) Grant() Grant { return l.grant }

// Done is closed when the lease is over: it expired, its proxy is gone, or it was given back.
func (l *Lease) Done() <-chan struct{} { return l.own.Done() }

// Err says why the lease is over, and nil while it is not. It is ErrExpired, ErrProxyGone,
// ErrUnknownLease or ErrReleased.
func (l *Lease) Err() error { return context.Cause(l.own) }

// ExpiresAt is when the lease must not be used any more unless it is renewed: a little before
// the API ends it, on the clock of this process.
func (l *Lease) ExpiresAt() time.Time { return l.now().over }

// ProxyHealthy says whether the proxy was healthy at the last renewal.
func (l *Lease) ProxyHealthy() bool { return l.now().healthy }

// ProxyDraining says whether the proxy was about to be replaced at the last renewal. Its
// lease should end soon; the replacement does not wait for ever.
func (l *Lease) ProxyDraining() bool { return l.now().draining }

// LogValue shows no credentials.
func (l *Lease) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", l.ID()), slog.Any("proxy", l.Proxy()))
}

// String shows no credentials.
func (l *Lease) String() string { return "lease " + l.ID() + " of " + l.Proxy().String() }

func (l *Lease) now() state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Context is ctx that ends with the lease too; context.Cause says why. Call the function when
// it is not needed any more.
func (l *Lease) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.own, func() { cancel(l.Err()) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// Report tells what was seen through the lease.
func (l *Lease) Report(ctx context.Context, r Report) error {
	return l.client.Report(ctx, l.ID(), r)
}

// Close gives the lease back and waits for its reports. It may be called at any time, from
// anywhere and again: nothing happens once the lease was given back.
func (l *Lease) Close(ctx context.Context) error {
	l.end(ErrReleased)
	<-l.kept
	l.reports.finish(ctx)
	select {
	case l.closing <- struct{}{}:
		defer func() { <-l.closing }()
	case <-ctx.Done():
		return fmt.Errorf("release lease %s: %w", l.ID(), context.Cause(ctx))
	}
	if l.released {
		return nil
	}
	if err := l.client.Release(ctx, l.ID()); err != nil {
		return err
	}
	l.released = true
	return nil
}

// Detach stops renewing the lease and leaves it to whoever knows its ID. It ends when its
// time is over, or when it is released.
func (l *Lease) Detach() {
	l.end(ErrReleased)
	<-l.kept
}
