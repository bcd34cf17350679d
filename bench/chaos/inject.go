package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/temporal/wire"
)

// attributeWho is the attribute of a Proxy that tells the injector whose life it is.
const attributeWho = "chaos"

// exitCrashed is the exit code of a worker that a fault ended.
const exitCrashed = 86

// injector is a provider whose calls go wrong as the seed says.
type injector struct {
	provider.Provider
	name  string // in the providers file
	seed  uint64
	calls *callLog
	// live reads past any cache.
	live client.Reader

	mu   sync.Mutex
	last provider.Listing
}

// begin writes the call down and waits, or refuses, where that is the fault.
func (p *injector) begin(ctx context.Context, c call) (call, error) {
	c, err := p.calls.begin(p.seed, c)
	if err != nil {
		return c, err
	}
	switch c.Fault {
	case faultSlow:
		if linger(ctx, c.Delay/4) != nil {
			err = fmt.Errorf("injected: too slow: %w: %w", ctx.Err(), provider.ErrTransient)
		}
	case faultBusy:
		err = fmt.Errorf("injected: the queue is full: %w", provider.ErrBusy)
	case faultQuota:
		err = fmt.Errorf("injected: no room: %w", provider.ErrQuotaExceeded)
	case faultPermanent:
		err = fmt.Errorf("injected: not allowed: %w", provider.ErrPermanent)
	case faultRefused:
		err = fmt.Errorf("injected: connection refused: %w", provider.ErrTransient)
	}
	return c, err
}

// after returns what the fault leaves of an answer.
func (p *injector) after(c call, err error) error {
	switch c.Fault {
	case faultCrash:
		c.Note = fmt.Sprintf(" (it ended with: %v)", err)
		_ = p.calls.tell(c) // untold, the run may miss the fault in the end
		os.Exit(exitCrashed)
	case faultReplyLost:
		return fmt.Errorf("injected: connection reset: %w", provider.ErrTransient)
	}
	return err
}

// later runs what a lost attempt still does, within its deadline. It dies with the
// worker.
func (p *injector) later(ctx context.Context, c call, do func(context.Context) error) {
	wait := c.Delay
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(wait + time.Minute)
	}
	wait = min(wait, time.Until(deadline)-time.Second)
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	go func() {
		defer cancel()
		if linger(ctx, wait) != nil || ctx.Err() != nil {
			return
		}
		err := do(ctx)
		c.Note = fmt.Sprintf(" (landed %s late: %v)", wait, err)
		_ = p.calls.tell(c) // untold, the run may miss the fault in the end
	}()
}

// Create goes wrong as the seed says.
func (p *injector) Create(ctx context.Context, req provider.Request) (provider.Instance, error) {
	c, err := p.begin(ctx, call{Instance: req.Name, Who: req.Spec.Attributes[attributeWho], Method: methodCreate})
	if err != nil {
		return provider.Instance{}, err
	}
	if c.Fault == faultLandsLate {
		p.later(ctx, c, func(ctx context.Context) error {
			_, err := p.create(ctx, c, req)
			return err
		})
		return provider.Instance{}, fmt.Errorf("injected: no answer: %w", provider.ErrTransient)
	}
	inst, err := p.create(ctx, c, req)
	if err := p.after(c, err); err != nil {
		return provider.Instance{}, err
	}
	return inst, nil
}

func (p *injector) create(ctx context.Context, c call, req provider.Request) (provider.Instance, error) {
	entry := crawl.InstanceRecord{Provider: p.name, Place: req.Place, Name: req.Name, Incarnation: req.Incarnation}
	var err error
	if c.Wrong, err = p.ledgerLacks(ctx, req, entry); err != nil {
		c.Unchecked = &entry
	}
	if c.again() {
		if err := p.calls.tell(c); err != nil {
			return provider.Instance{}, err
		}
	}
	return p.Provider.Create(ctx, req)
}

// ledgerLacks says what is wrong with the ledger at the moment of a Create. It fails
// when the API server does not answer.
func (p *injector) ledgerLacks(ctx context.Context, req provider.Request, entry crawl.InstanceRecord) (string, error) {
	ref := wire.ProxyRef{Namespace: req.Owner.Namespace, Name: req.Owner.Name, UID: req.Owner.UID}
	e, problem, err := inLedger(ctx, p.live, ref, entry)
	switch {
	case err != nil:
		return "", err
	case problem != "":
		return fmt.Sprintf("incarnation %d is created, but %s", entry.Incarnation, problem), nil
	case e == nil: // it may be left behind
		return "", nil
	}
	if deadline, _ := ctx.Deadline(); e.AttemptUntil == nil || e.AttemptUntil.Time.Before(deadline) {
		return fmt.Sprintf("an attempt may run until %s, later than the ledger says: %v", deadline.Format(time.TimeOnly), e.AttemptUntil), nil
	}
	return "", nil
}

// Get goes wrong as the seed says.
func (p *injector) Get(ctx context.Context, id provider.ID) (provider.Instance, error) {
	c, err := p.begin(ctx, call{Instance: id.Name, Method: methodGet})
	if err != nil {
		return provider.Instance{}, err
	}
	if c.Fault == faultNotFound {
		return provider.Instance{}, fmt.Errorf("injected: instance %s: %w", id.Name, provider.ErrNotFound)
	}
	i, err := p.Provider.Get(ctx, id)
	if err == nil && i.State == provider.Halted {
		c.Fault, c.Note = faultHalted, " (Create starts it again)"
		_ = p.calls.tell(c) // untold, the run may miss the fault in the end
	}
	return i, err
}

// Delete goes wrong as the seed says.
func (p *injector) Delete(ctx context.Context, id provider.ID) error {
	c, err := p.begin(ctx, call{Instance: id.Name, Method: methodDelete})
	if err != nil {
		return err
	}
	switch c.Fault {
	case faultForgotten:
		return nil
	case faultLandsLate:
		p.later(ctx, c, func(ctx context.Context) error { return p.Provider.Delete(ctx, id) })
		return nil
	}
	return p.after(c, p.Provider.Delete(ctx, id))
}

// Disown goes wrong as the seed says.
func (p *injector) Disown(ctx context.Context, id provider.ID) error {
	c, err := p.begin(ctx, call{Instance: id.Name, Method: methodDisown})
	if err != nil {
		return err
	}
	return p.after(c, p.Provider.Disown(ctx, id))
}

// List goes wrong as the seed says.
func (p *injector) List(ctx context.Context) (provider.Listing, error) {
	c, err := p.begin(ctx, call{Instance: p.name, Who: p.name, Method: methodList})
	if err != nil {
		return provider.Listing{}, err
	}
	l, err := p.Provider.List(ctx)
	if err != nil {
		return l, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.last
	p.last = l
	switch c.Fault {
	case faultStale:
		return was, nil
	case faultPartial:
		return provider.Listing{Instances: l.Instances[:len(l.Instances)/2], Incomplete: map[string]string{"local": "injected: no answer"}}, nil
	}
	return l, nil
}
