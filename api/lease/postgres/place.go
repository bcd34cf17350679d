// Package postgres keeps a lease engine's journal in PostgreSQL, for several replicas of
// which one leads.
package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"example.com/fairlead/api/lease"
)

const (
	// timeToLive is how long a leader that is not heard of any more keeps the others waiting.
	timeToLive = 2 * time.Second
	// renewEvery is how long a leader lets its row be before it says that it lives.
	renewEvery = 500 * time.Millisecond
	// callTimeout bounds each statement: a leader that waits longer is none any more.
	callTimeout = timeToLive
	// pollEvery is how often a candidate looks at the row.
	pollEvery = 500 * time.Millisecond
	// pollJitter keeps candidates from looking all at once.
	pollJitter = 0.2
	// frozenAfter is when a row that nobody touched is free whatever the database's clock
	// says, which may have been set back. It is in the candidate's time.
	frozenAfter = 2 * timeToLive
)

// defaultSchema has the tables.
const defaultSchema = "fairlead_leases"

// Options of a Place. DSN and URL must be given.
type Options struct {
	// DSN is the connection string, with its password; see pgx.ParseConfig.
	DSN string
	// URL at which the other replicas reach this one while it leads.
	URL string
	// Clock measures how long this process may have led; only its monotonic part counts.
	Clock clock.Clock
	// Jitter in [0,1) spreads the candidates' looks.
	Jitter func() float64

	// schema that has the tables.
	schema string
}

// Place is a database in which one replica at a time keeps the journal.
type Place struct {
	config  *pgx.ConnConfig
	options Options
	// holder tells this process from all others, and from itself before a restart.
	holder string

	mu     sync.Mutex
	leader leader
}

// leader is the replica that leads, as it was last seen.
type leader struct {
	url   string
	until time.Time
}

// New makes a Place. It connects to nothing yet.
func New(o Options) (*Place, error) {
	if o.schema == "" {
		o.schema = defaultSchema
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Jitter == nil {
		o.Jitter = mathrand.Float64 // #nosec G404 -- it spreads load and keeps no secret
	}
	p := &Place{options: o, holder: rand.Text()}
	var err error
	p.config, err = parse(o.DSN, o.schema, p.holder)
	return p, err
}

// Leader is the URL of the replica that leads, as it was last seen while Lead waited; it is
// empty when its time is over, and when it is this one.
func (p *Place) Leader() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	// After a restart it may be this one's URL, from before.
	if p.leader.url == p.options.URL || !p.options.Clock.Now().Before(p.leader.until) {
		return ""
	}
	return p.leader.url
}

func (p *Place) see(l leader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leader = l
}

// Lead waits until no other replica leads, and takes its place.
func (p *Place) Lead(ctx context.Context) (lease.Journal, error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	j, err := p.lead(ctx, conn)
	if err != nil {
		disconnect(conn)
		return nil, fmt.Errorf("lead through %s: %w", remedy, err)
	}
	return j, nil
}

func (p *Place) lead(ctx context.Context, conn *pgx.Conn) (*Journal, error) {
	if err := p.ensureTables(ctx, conn); err != nil {
		return nil, err
	}
	c := candidate{place: p, conn: conn}
	for {
		epoch, sent, err := c.take(ctx)
		if err != nil {
			return nil, err
		}
		if epoch > 0 {
			p.see(leader{})
			return newJournal(p, conn, epoch, sent), nil
		}
		pause := time.Duration(float64(pollEvery) * (1 - pollJitter + 2*pollJitter*p.options.Jitter()))
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.options.Clock.After(pause):
		}
	}
}
