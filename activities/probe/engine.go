package probe

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Defaults of an Engine.
const (
	DefaultTick    = time.Second
	DefaultWorkers = 8
	// queue lets more probes start in a tick than there are workers.
	queue = 1024
)

// Transition is what an engine tells of a target: a first verdict, a flip, or a
// change of latency or reason.
type Transition struct {
	UID             string
	Incarnation     int64
	Namespace, Name string
	// Verdict of the probe that is told; Healthy is the opinion over all.
	Verdict Verdict
	Healthy bool
	Latency time.Duration
	ExitIP  string
	Message string
	// At is when the probe ended.
	At time.Time
}

// Options of an Engine.
type Options struct {
	// Targets returns what is to be probed now. A target that it no longer returns is
	// forgotten; when it fails, the tick is left out. Required.
	Targets func(context.Context) ([]Target, error)
	// Report tells a transition. When it fails, which it logs itself, the transition is
	// told with the next probe. Required.
	Report func(context.Context, Transition) error
	// Metrics hears of every probe; nil for none.
	Metrics Metrics
	// Probe defaults to the function Probe.
	Probe func(context.Context, Target) Result
	Clock clock.WithTicker
	// Jitter returns a number in [0, 1).
	Jitter  func() float64
	Tick    time.Duration
	Workers int
}

// Engine probes targets, forms an opinion of each, and tells what changed.
type Engine struct {
	Options

	jobs chan job

	mu     sync.Mutex
	states map[key]*state
	// detailAt is when the last detail was told: at most one a second.
	detailAt time.Time
}

// key tells instances apart: a replaced one starts with fresh counters.
type key struct {
	uid         string
	incarnation int64
}

// job is a probe of a target, or only the telling of what is known.
type job struct {
	state    *state
	target   Target
	tellOnly bool
}

// New returns an Engine that has yet to Run.
func New(o Options) *Engine {
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.Probe == nil {
		o.Probe = Probe
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64 // #nosec G404 -- it spreads load and keeps no secret
	}
	if o.Tick == 0 {
		o.Tick = DefaultTick
	}
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	return &Engine{Options: o, jobs: make(chan job, queue), states: map[key]*state{}}
}

// Run probes until ctx ends, and returns when the last probe has.
func (e *Engine) Run(ctx context.Context) {
	ticker := e.Clock.NewTicker(e.Tick)
	defer ticker.Stop()
	var workers sync.WaitGroup
	defer workers.Wait()
	for range e.Workers {
		workers.Go(func() { e.work(ctx) })
	}
	for {
		e.tick(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// tick hands what is due to the workers. When too much waits for them already,
// the rest waits for the next tick.
func (e *Engine) tick(ctx context.Context) {
	targets, err := e.Targets(ctx)
	if err != nil {
		return // who cannot list proxies knows of none that is gone
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Clock.Now()
	seen := make(map[key]bool, len(targets))
	for _, t := range targets {
		k := key{t.UID, t.Incarnation}
		seen[k] = true
		s := e.stateOf(k, t, now)
		if s.inFlight {
			continue
		}
		contrary := s.contrary(t.Published, now)
		if due := s.due(now); due || contrary {
			e.start(job{state: s, target: t, tellOnly: !due}, now)
		}
	}
	e.prune(seen)
}

func (e *Engine) stateOf(k key, t Target, now time.Time) *state {
	s, ok := e.states[k]
	switch {
	case !ok:
		s = newState(t, now, e.Jitter())
	case s.target.Proxy != t.Proxy: // an edited endpoint is another proxy
		t.Published = Published{}
		s = newState(t, now, 0)
	}
	s.target = t
	e.states[k] = s
	return s
}

func (e *Engine) start(j job, now time.Time) {
	select {
	case e.jobs <- j:
		j.state.inFlight = true
		if !j.tellOnly {
			j.state.lastProbe = now
		}
	default:
	}
}

// prune forgets targets that are gone, and their metrics once no incarnation is
// left.
func (e *Engine) prune(seen map[key]bool) {
	alive := map[string]bool{}
	for k := range seen {
		alive[k.uid] = true
	}
	for k, s := range e.states {
		if seen[k] {
			continue
		}
		delete(e.states, k)
		if !alive[k.uid] {
			e.Metrics.Forget(s.target.Namespace, s.target.Name)
		}
	}
}

func (e *Engine) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-e.jobs:
			e.do(ctx, j)
		}
	}
}

func (e *Engine) do(ctx context.Context, j job) {
	if j.tellOnly {
		e.tell(ctx, j.state, true)
	} else {
		r := e.Probe(ctx, j.target)
		if ctx.Err() == nil { // a probe that was cut off says nothing
			e.record(j, r)
			e.tell(ctx, j.state, false)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	j.state.inFlight = false
}

func (e *Engine) record(j job, r Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.holds(j.state) {
		return
	}
	if other := e.sharer(j, r); other != nil {
		r = failed(WrongExit, "leaves by %s as %s does: healthCheck.exit.unique asks for an address of its own", r.ExitIP, other.target)
	}
	e.Metrics.Probed(j.target.Namespace, j.target.Name, r)
	j.state.record(r, e.Clock.Now())
}

// holds says whether s is still what the engine knows of its target.
func (e *Engine) holds(s *state) bool {
	return e.states[key{s.target.UID, s.target.Incarnation}] == s
}

// sharer is another healthy target that left by the same address before j's did,
// where j asks for an address of its own.
func (e *Engine) sharer(j job, r Result) *state {
	if !j.target.Check.Exit.Unique || !r.Verdict.OK() {
		return nil
	}
	for _, s := range e.states {
		if s.target.UID != j.target.UID && s.opinion.healthy && s.exitIP() == r.ExitIP {
			return s
		}
	}
	return nil
}

// tell reports what is new about s, or all when it is asked to. Nothing counts as
// told before Report has taken it.
func (e *Engine) tell(ctx context.Context, s *state, again bool) {
	e.mu.Lock()
	now := e.Clock.Now()
	what := s.news(now)
	if again {
		what = flip
	}
	if what == detail && now.Sub(e.detailAt) < time.Second {
		what = nothing
	}
	if what == nothing || !e.holds(s) {
		e.mu.Unlock()
		return
	}
	if what == detail {
		e.detailAt = now
	}
	t := s.transition()
	e.mu.Unlock()

	err := e.Report(ctx, t)

	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		s.reported(t, now)
	}
}
