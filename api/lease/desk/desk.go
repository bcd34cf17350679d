// Package desk keeps one lease engine open as long as this process leads: it takes the
// journal, opens an engine on it, tells it the fleet, and begins anew when it stops.
package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/fairlead/api/lease"
)

const (
	// firstPause and maxPause are between attempts to lead.
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// NotLeadingError is the error of a process that does not lead.
type NotLeadingError struct {
	// URL is where the process that leads serves; empty while nobody is known to lead.
	URL string
}

func (e *NotLeadingError) Error() string {
	if e.URL == "" {
		return "no process lends now"
	}
	return "the process that lends is at " + e.URL
}

// Options of a Desk. Place and Log are required.
type Options struct {
	// Place is where the journal is kept.
	Place lease.Place
	// Engine has the options of the engines.
	Engine lease.Options
	// Notify tells the workflow of a proxy of a notice; nil for nobody.
	Notify func(context.Context, lease.Notice) error
	Log    *slog.Logger
}

// Desk keeps an engine open. It is safe for concurrent use.
type Desk struct {
	Options

	// now is read by each request.
	now    atomic.Pointer[state]
	opened chan struct{}
	// ending is closed as soon as this process is to end.
	ending chan struct{}

	// mu keeps what engines are told in its order.
	mu      sync.Mutex
	engine  *lease.Engine // nil while there is none
	fleet   map[string]lease.Candidate
	synced  bool
	budgets []lease.Budget
}

// state is what requests find.
type state struct {
	engine *lease.Engine
	// why there is no engine.
	why error
	// leads: there is none although this process leads.
	leads bool
}

// New returns a Desk; it is of use once it runs.
func New(o Options) *Desk {
	d := &Desk{Options: o, opened: make(chan struct{}), ending: make(chan struct{}), fleet: map[string]lease.Candidate{}}
	d.now.Store(&state{})
	return d
}

// Engine returns the open engine. Without one the error is a *NotLeadingError, or wraps
// lease.ErrUnavailable and says why this process, which leads, has none.
func (d *Desk) Engine() (*lease.Engine, error) {
	s := d.now.Load()
	if s.engine != nil {
		return s.engine, nil
	}
	if !s.leads {
		if url := d.Place.Leader(); url != "" {
			return nil, &NotLeadingError{URL: url}
		}
	}
	if s.why != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrUnavailable, s.why)
	}
	return nil, &NotLeadingError{}
}

// Opened is closed once the first engine is open.
func (d *Desk) Opened() <-chan struct{} { return d.opened }

// Put tells of one proxy as it is now.
func (d *Desk) Put(c lease.Candidate) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fleet[c.UID] = c
	if d.engine != nil && d.synced {
		d.engine.Put(c)
	}
}

// Remove tells of a proxy that is gone.
func (d *Desk) Remove(uid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.fleet, uid)
	if d.engine != nil && d.synced {
		d.engine.Remove(uid)
	}
}

// Synced says that all proxies there are have been Put: what an engine remembers of
// others ends, so nothing is lent before.
func (d *Desk) Synced() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced = true
	if d.engine != nil {
		d.engine.Sync(slices.Collect(maps.Values(d.fleet)))
	}
}

// SetBudgets replaces the budgets of targets.
func (d *Desk) SetBudgets(budgets []lease.Budget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.budgets = budgets
	if d.engine != nil {
		d.engine.SetBudgets(budgets)
	}
}

// Run leads whenever it can, until ctx ends. Whoever waits then gets lease.ErrStopped. A Desk
// runs once.
func (d *Desk) Run(ctx context.Context) {
	defer func() { d.now.Store(&state{why: lease.ErrStopped, leads: true}) }()
	context.AfterFunc(ctx, func() { close(d.ending) })
	pause, told := firstPause, ""
	for ctx.Err() == nil {
		lasted, err := d.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if lasted > maxPause {
			pause, told = firstPause, ""
		}
		if message := err.Error(); message != told {
			told = message
			d.Log.ErrorContext(ctx, "this process lends nothing until it can keep leases again", "error", err)
		}
		d.now.Store(&state{why: err})
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)): // #nosec G404 -- it spreads load, nothing else
		}
		pause = min(2*pause, maxPause)
	}
}

// serve leads once, and returns how long there was an engine and why there is none any
// more.
func (d *Desk) serve(ctx context.Context) (lasted time.Duration, err error) {
	j, err := d.Place.Lead(ctx)
	if err != nil {
		return 0, fmt.Errorf("lead: %w", err)
	}
	d.now.Store(&state{why: errors.New("the leases are being read"), leads: true})
	e, err := lease.Open(ctx, j, d.Options.Engine)
	if err != nil {
		return 0, err
	}
	d.open(e)
	start := time.Now()
	telling, stop := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() { d.tell(telling, e) })
	select {
	case <-ctx.Done():
	case <-e.Done():
	}
	why := errors.New("the leases cannot be kept")
	if ctx.Err() != nil {
		why = lease.ErrStopped
	}
	d.close(why)
	err = errors.Join(e.Close(), e.Err())
	stop()
	teller.Wait()
	return time.Since(start), err
}

// open hands e to requests, with all that is known.
func (d *Desk) open(e *lease.Engine) {
	d.mu.Lock()
	d.engine = e
	e.SetBudgets(d.budgets)
	if d.synced {
		e.Sync(slices.Collect(maps.Values(d.fleet)))
	}
	n := len(d.fleet)
	d.mu.Unlock()
	d.now.Store(&state{engine: e})
	d.Log.Info("this process lends the proxies", "proxies", n)
	select {
	case <-d.opened:
	default:
		close(d.opened)
	}
}

// close takes the engine from requests. Those that have it already find it stopped.
func (d *Desk) close(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.engine = nil
	d.now.Store(&state{why: why})
}
