package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

const (
	crawlers  = 24
	operators = 2
	// upWithin is when a replica serves after its first start.
	upWithin = time.Minute
)

// phase is what happens on one journal: replicas, the clients that load them, and blows.
type phase struct {
	*run

	name     string
	replicas []*replica
	urls     []string
	ledger   *ledger
	record   *record
	crawlers []*crawler
	auditor  *operator
}

func (r *run) newPhase(name string, replicas []*replica) *phase {
	p := &phase{run: r, name: name, replicas: replicas, ledger: newLedger(r.now), record: newRecord()}
	for _, replica := range replicas {
		p.urls = append(p.urls, replica.url)
	}
	for i := range crawlers {
		p.crawlers = append(p.crawlers, p.newCrawler(i))
	}
	p.auditor = p.newOperator(0)
	return p
}

func (p *phase) newCaller(name string) *caller {
	return newCaller(p.now, tokenOf(name), p.urls, dice.New(p.seed, p.name, "caller", name))
}

// play starts the replicas and the load, lets the blows fall, each followed by an audit,
// and looks at all that is known.
func (p *phase) play(ctx context.Context, blows int, blow func(context.Context, int) error) (err error) {
	defer func() {
		for _, r := range p.replicas {
			err = errors.Join(err, r.kill(context.WithoutCancel(ctx)))
		}
	}()
	for _, r := range p.replicas {
		if err := r.start(); err != nil {
			return err
		}
	}
	up, cancel := context.WithTimeoutCause(ctx, upWithin, fmt.Errorf("no replica serves within %s of its first start", upWithin))
	defer cancel()
	for _, url := range p.urls {
		if _, err := p.served(up, url); err != nil {
			return err
		}
	}
	if err := p.underLoad(ctx, blows, blow); err != nil {
		return err
	}
	operations, v := p.record.check(p.dir)
	if v != nil {
		return p.fail(v)
	}
	p.printf("%s: %d recorded operations are linearizable", p.name, operations)
	return nil
}

func (p *phase) underLoad(ctx context.Context, blows int, blow func(context.Context, int) error) error {
	working, end := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer end()
	work := func(do func(context.Context) *violation) {
		clients.Go(func() {
			if v := do(working); v != nil {
				p.stop(p.fail(v))
			}
		})
	}
	for _, c := range p.crawlers {
		work(c.work)
	}
	for i := range operators {
		work(p.newOperator(i + 1).work)
	}
	for i := range recorders {
		work(p.newRecorder(i).work)
	}
	for n := range blows {
		if err := blow(ctx, n); err != nil {
			return err
		}
		if err := p.audit(ctx); err != nil {
			return err
		}
		if n%eraBlows == eraBlows-1 {
			p.record.nextEra()
		}
	}
	return nil
}

// audit waits until all clients have looked whether what they were promised is there, and
// looks at what they know together.
func (p *phase) audit(ctx context.Context) error {
	var waiting sync.WaitGroup
	for _, c := range p.crawlers {
		waiting.Add(1)
		c.audits <- &waiting
	}
	if v := p.auditor.audit(ctx); v != nil && ctx.Err() == nil {
		return p.fail(v)
	}
	done := make(chan struct{})
	go func() {
		waiting.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if v := p.ledger.check(p.capacity); v != nil {
		return p.fail(v)
	}
	return nil
}

// served waits until a request of a replica is granted, or refused for want of proxies, and
// returns when that was.
func (p *phase) served(ctx context.Context, url string) (time.Duration, error) {
	c := p.newCaller(nameProber)
	q := acquisition(acquireBody{Selector: map[string]string{attrOnly: probeProxy}, TTLSeconds: 1}, "")
	q.patience = 500 * time.Millisecond
	for {
		r := c.sendTo(ctx, url, q)
		if r.is(201) || r.refused("no_match") {
			return r.got, nil
		}
		if err := linger(ctx, 5*time.Millisecond); err != nil {
			return 0, fmt.Errorf("%s is not served: %w (last: %s)", url, err, r)
		}
	}
}

// servedByAny waits until the first of some replicas serves.
func (p *phase) servedByAny(ctx context.Context, urls []string) (time.Duration, error) {
	const patience = time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nobody serves within %s of a blow", patience))
	defer cancel()
	type first struct {
		at  time.Duration
		err error
	}
	answers := make(chan first, len(urls))
	for _, url := range urls {
		go func() {
			at, err := p.served(ctx, url)
			answers <- first{at, err}
		}()
	}
	one := <-answers
	return one.at, one.err
}
