package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Defaults of Options.
const (
	DefaultBan         = 10 * time.Minute
	DefaultSessionIdle = 30 * time.Minute
)

// Options of an Engine. The zero value works.
type Options struct {
	Clock clock.Clock
	// Ban is how long a proxy rests for a target that banned it; it doubles with each ban
	// in a row.
	Ban time.Duration
	// SessionIdle is how long a session without leases remembers its proxy.
	SessionIdle time.Duration
	// NewID makes the id of a lease, which must not be guessable.
	NewID func() string
	// Jitter is between -1 and 1, and spreads the ends of bans.
	Jitter func() float64
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Ban == 0 {
		o.Ban = DefaultBan
	}
	if o.SessionIdle == 0 {
		o.SessionIdle = DefaultSessionIdle
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 2*mathrand.Float64() - 1 } // #nosec G404 -- it spreads load, nothing else
	}
	return o
}

// Engine lends. It is safe for concurrent use, changes one thing at a time, and answers
// only what its journal keeps.
type Engine struct {
	Options

	journal Journal
	// ended is closed when the engine has stopped working, and after that err is set.
	ended chan struct{}
	// wake lets the timekeeper look at the alarms anew.
	wake chan struct{}
	// running are the engine's own goroutines.
	running sync.WaitGroup

	mu  sync.Mutex
	err error
	// started is when the engine time was base.
	started time.Time
	base    moment
	alarms  alarms
	saving  saving

	// open takes changes that are not handed to the journal yet; committing is with it.
	open, committing *group
	// pause is how long the open group waits for one more; 0 while few ask.
	pause time.Duration
	dirty chan struct{}

	// synced: the fleet is known.
	synced bool
	fleet  fleet

	// leases by id, with those that ended lately.
	leases map[string]*record
	// active counts those that have not ended.
	active   int
	clients  map[string]*client
	sessions map[sessionID]*session
	targets  map[string]*target

	queue   queue
	notices notices
}

// Open returns an Engine that goes on where the journal ends. It grants nothing before
// it is told the fleet by Sync. The journal is the Engine's to close.
func Open(ctx context.Context, j Journal, o Options) (*Engine, error) {
	e := &Engine{
		Options: o.withDefaults(), journal: j,
		ended: make(chan struct{}), wake: make(chan struct{}, 1), dirty: make(chan struct{}, 1),
		open: newGroup(), fleet: newFleet(),
		leases: map[string]*record{}, clients: map[string]*client{}, sessions: map[sessionID]*session{}, targets: map[string]*target{},
		notices: newNotices(),
	}
	if err := e.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("load the leases: %w", err), j.Close())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.saving.begin(e)
	e.running.Go(e.commitGroups)
	e.running.Go(e.keepTime)
	return e, nil
}

// Done is closed when the engine has stopped: after Close, or when its journal failed or
// was taken over. What it had answered is kept; another one must be opened.
func (e *Engine) Done() <-chan struct{} { return e.ended }

// Err says why the engine stopped.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Close stops the engine: what is under way is kept first, and whoever waits gets
// ErrStopped.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.stop(ErrStopped)
	e.mu.Unlock()
	e.running.Wait()
	if err := e.journal.Close(); err != nil {
		return fmt.Errorf("close the journal of leases: %w", err)
	}
	return nil
}

func (e *Engine) stop(why error) {
	if e.err != nil {
		return
	}
	e.err = why
	close(e.ended)
	if !errors.Is(why, ErrStopped) {
		why = fmt.Errorf("%w: %w", ErrUnavailable, why)
	}
	e.refuseAll(why)
}

// begin locks e for one operation, which ends with a call of finish. It lets the past
// happen first.
func (e *Engine) begin() (now moment, err error) {
	e.mu.Lock()
	switch {
	case e.err != nil:
		err = fmt.Errorf("%w: %w", ErrUnavailable, e.err)
	case !e.synced:
		err = fmt.Errorf("%w: the fleet is not known yet", ErrUnavailable)
	}
	if err != nil {
		e.mu.Unlock()
		return 0, err
	}
	return e.settle(), nil
}

// finish unlocks e and returns when all that the operation has done or seen is kept.
func (e *Engine) finish() error {
	return e.unlockWhenKept(e.barrier())
}
