package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// killOnly kills the only replica at some moment, starts it again at once, and takes the
// time until it serves.
func (p *phase) killOnly(ctx context.Context, n int) error {
	d := dice.New(p.seed, p.name, "kill", n)
	if err := linger(ctx, d.Between(300*time.Millisecond, 2500*time.Millisecond)); err != nil {
		return err
	}
	at := p.now()
	only := p.replicas[0]
	if err := errors.Join(only.kill(ctx), only.start()); err != nil {
		return err
	}
	served, err := p.servedByAny(ctx, p.urls)
	if err != nil {
		return err
	}
	took := p.taken(at, served)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.kills++
	p.result.serving = append(p.result.serving, took)
	p.printf("%s: kill %d, serving again after %s", p.name, n+1, took)
	return nil
}

// blow is what befalls a leader.
type blow string

const (
	blowKill blow = "killed"
	blowStop blow = "stopped"
	blowCut  blow = "cut off"
)

// leaderBlows fall in an order of their own in each round.
var leaderBlows = []blow{blowKill, blowStop, blowCut}

// nthBlow is the nth blow, and how long it lasts.
func nthBlow(seed uint64, n int) (blow, time.Duration) {
	d := dice.New(seed, "round", n/len(leaderBlows))
	left := append([]blow(nil), leaderBlows...)
	for i := len(left) - 1; i > 0; i-- {
		j := d.Below(i + 1)
		left[i], left[j] = left[j], left[i]
	}
	return left[n%len(leaderBlows)], dice.New(seed, "blow", n).Between(3*time.Second, 8*time.Second)
}

// strikeLeader lets the nth blow fall on whoever leads, takes the time until another replica
// serves, and mends it.
func (p *phase) strikeLeader(ctx context.Context, n int) error {
	kind, lasts := nthBlow(p.seed, n)
	if err := linger(ctx, dice.New(p.seed, p.name, "pause", n).Between(500*time.Millisecond, 2500*time.Millisecond)); err != nil {
		return err
	}
	leader, err := p.leader(ctx)
	if err != nil {
		return err
	}
	at := p.now()
	if err := p.strike(ctx, leader, kind); err != nil {
		return err
	}
	served, err := p.servedByAny(ctx, p.others(leader))
	if err != nil {
		return fmt.Errorf("after the leader was %s: %w", kind, err)
	}
	took := p.taken(at, served)
	p.mu.Lock()
	p.result.failovers++
	p.result.failover = append(p.result.failover, took)
	p.mu.Unlock()
	p.printf("%s: blow %d, the leader %s is %s, another one serves after %s", p.name, n+1, leader.name, kind, took)
	if err := p.mend(ctx, leader, kind, at+lasts); err != nil {
		return err
	}
	_, err = p.servedByAny(ctx, []string{leader.url})
	return err
}

func (p *phase) strike(ctx context.Context, r *replica, kind blow) error {
	switch kind {
	case blowStop:
		return r.halt(ctx)
	case blowCut:
		return p.stack.network.cut(ctx, r.link)
	}
	return errors.Join(r.kill(ctx), r.start())
}

// mend ends a blow at a time. Who was killed has been started again already.
func (p *phase) mend(ctx context.Context, r *replica, kind blow, at time.Duration) error {
	if kind == blowKill {
		return nil
	}
	if err := linger(ctx, at-p.now()); err != nil {
		return err
	}
	if kind == blowCut {
		return p.stack.network.mend(ctx, r.link)
	}
	return r.signal(syscall.SIGCONT)
}

// leader is the replica that answers by itself.
func (p *phase) leader(ctx context.Context) (*replica, error) {
	c := p.newCaller(nameProber)
	q := request{method: http.MethodGet, path: "/v1/leases", unforwarded: true}
	for until := p.now() + insistence; p.now() < until; {
		for _, r := range p.replicas {
			if c.sendTo(ctx, r.url, q).is(http.StatusOK) {
				return r, nil
			}
		}
		if err := linger(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no replica leads for %s", insistence)
}

func (p *phase) others(than *replica) (urls []string) {
	for _, r := range p.replicas {
		if r != than {
			urls = append(urls, r.url)
		}
	}
	return urls
}
