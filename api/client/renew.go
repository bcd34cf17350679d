package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// renewalsPerTTL leaves time for renewals that fail.
	renewalsPerTTL = 3
	// attemptsPerTTL bounds an attempt to renew, so that one that hangs is not the last.
	attemptsPerTTL = 5
	// longestMargin is how much sooner than the API a lease ends here, at most: requests are
	// under way for a while.
	longestMargin = 2 * time.Second
)

// usable is how long a lease of ttl is used.
func usable(ttl time.Duration) time.Duration { return ttl - min(ttl/10, longestMargin) }

// Renew lets the lease last for ttl from now, and renews it for as long from then on; 0 is
// what it has. Never needed for a lease that is to go on as it is.
func (l *Lease) Renew(ctx context.Context, ttl time.Duration) (Renewal, error) {
	if ttl == 0 {
		ttl = l.now().ttl
	}
	return l.renew(ctx, ttl, renewCall(l.ID(), ttl))
}

func (l *Lease) renew(ctx context.Context, ttl time.Duration, k call) (Renewal, error) {
	renewal, sent, err := l.client.renew(ctx, l.ID(), k)
	if err != nil {
		return Renewal{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.state
	s.ttl = min(ttl, time.Duration(renewal.TTLSeconds)*time.Second)
	s.healthy, s.draining = renewal.ProxyHealthy, renewal.ProxyDraining
	s.renewed = sent
	if over := sent.Add(usable(s.ttl)); over.After(s.over) { // it is never shortened
		s.over = over
	}
	return renewal, nil
}

// keep renews the lease until it ends. A renewal that fails is tried again while the lease is
// good: nobody else may have the proxy before.
func (l *Lease) keep() {
	defer close(l.kept)
	var failed error
	for failures := 0; ; {
		if sleep(l.own, l.pause(failed, failures)) != nil {
			return
		}
		err := l.renewOnce()
		switch {
		case err == nil:
			failures, failed = 0, nil
			continue
		case l.Err() != nil:
			return
		case errors.Is(err, ErrExpired), errors.Is(err, ErrProxyGone), errors.Is(err, ErrUnknownLease):
			l.end(err)
			return
		}
		failures, failed = failures+1, err
		left := time.Until(l.now().over)
		if left <= 0 {
			l.end(fmt.Errorf("lease %s: %w; last: %w", l.ID(), ErrExpired, err))
			return
		}
		l.client.options.Log.WarnContext(l.own, "renewing failed, trying again", "lease", l, "left", left, "error", err)
	}
}

// pause is until the next attempt to renew, or until the lease is over.
func (l *Lease) pause(failed error, failures int) time.Duration {
	s := l.now()
	if failures == 0 {
		early := l.client.options.Jitter() / 10
		return time.Until(s.renewed.Add(time.Duration((1 - early) * float64(s.ttl) / renewalsPerTTL)))
	}
	again := min(l.client.backoff(failed, failures-1), s.ttl/(2*attemptsPerTTL))
	return min(again, time.Until(s.over))
}

// renewOnce is one attempt to renew, which ends with the lease at the latest.
func (l *Lease) renewOnce() error {
	s := l.now()
	ctx, cancel := context.WithDeadline(l.own, s.over)
	defer cancel()
	k := renewCall(l.ID(), s.ttl)
	k.once, k.limit = true, min(answerLimit, s.ttl/attemptsPerTTL)
	_, err := l.renew(ctx, s.ttl, k)
	return err
}

// usable says why the lease must not be used now, if so. A process that was stopped may find
// its lease over before anybody could tell it.
func (l *Lease) usable() error {
	if err := l.Err(); err != nil {
		return err
	}
	if time.Now().After(l.now().over) {
		return fmt.Errorf("lease %s: %w", l.ID(), ErrExpired)
	}
	return nil
}
