package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// drift is how much of its time a leader does without, as its clock may go slower than the
// database's.
const drift = timeToLive / 20

// Why a Journal keeps nothing any more.
var (
	// ErrDeposed: another replica leads, or may.
	ErrDeposed = errors.New("this replica does not lead any more")
	// ErrClosed: the Journal was closed.
	ErrClosed = errors.New("the journal is closed")
)

const (
	mine = ` epoch = $1 AND holder = $2`
	// renewRow also locks the row to the end of the statement.
	renewRow = `UPDATE leader SET expires_at = clock_timestamp() + $3 WHERE` + mine + ` AND expires_at > clock_timestamp() RETURNING epoch`
	giveUp   = `UPDATE leader SET expires_at = 'epoch' WHERE` + mine
)

// Journal is the journal of the replica that leads. While that lives, it renews its time by
// itself.
type Journal struct {
	place *Place
	epoch int64
	stop  context.CancelFunc
	renew sync.WaitGroup

	session sync.Mutex // one statement at a time
	conn    *pgx.Conn

	mu    sync.Mutex
	sent  time.Time // of the last statement that renewed
	ended error     // why nothing can be kept any more
}

func newJournal(p *Place, conn *pgx.Conn, epoch int64, sent time.Time) *Journal {
	ctx, cancel := context.WithCancel(context.Background())
	j := &Journal{place: p, epoch: epoch, stop: cancel, conn: conn, sent: sent}
	j.renew.Go(func() { j.keepRenewing(ctx) })
	return j
}

// Held returns an error once the time of this replica may be over, or is.
func (j *Journal) Held() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended != nil {
		return j.ended
	}
	if silent := j.place.options.Clock.Since(j.sent); silent >= timeToLive-drift {
		return fmt.Errorf("%w: nothing was heard of PostgreSQL for %s", ErrDeposed, silent.Round(time.Millisecond))
	}
	return nil
}

// Close gives the place of the leader up, so that another one need not wait for it.
func (j *Journal) Close() error {
	j.stop()
	j.renew.Wait()
	j.session.Lock()
	defer j.session.Unlock()
	j.mu.Lock()
	ended := j.ended
	j.ended = ErrClosed
	j.mu.Unlock()
	if errors.Is(ended, ErrClosed) {
		return nil
	}
	defer func() { disconnect(j.conn) }()
	if errors.Is(ended, ErrDeposed) {
		return nil
	}
	if err := j.giveUp(); err != nil {
		return fmt.Errorf("give the leader's row up, which others wait for now: %w", err)
	}
	return nil
}

func (j *Journal) giveUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	if j.conn.IsClosed() {
		conn, err := j.place.connect(ctx)
		if err != nil {
			return err
		}
		j.conn = conn
	}
	_, err := j.conn.Exec(ctx, giveUp, j.epoch, j.place.holder)
	return err
}

// keepRenewing says that the leader lives whenever it kept nothing for a while.
func (j *Journal) keepRenewing(ctx context.Context) {
	for {
		j.mu.Lock()
		wait := renewEvery - j.place.options.Clock.Since(j.sent)
		j.mu.Unlock()
		if wait <= 0 {
			if err := j.renewing(ctx, renewRow); err != nil {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-j.place.options.Clock.After(wait):
		}
	}
}

// renewing runs a statement that renews the row and returns its epoch, or no row when it is not
// ours. Its first arguments are those of renewRow.
func (j *Journal) renewing(ctx context.Context, statement string, more ...any) error {
	var sent time.Time
	err := j.call(ctx, func(ctx context.Context) error {
		sent = j.place.options.Clock.Now()
		var epoch int64
		err := j.conn.QueryRow(ctx, statement, append([]any{j.epoch, j.place.holder, timeToLive}, more...)...).Scan(&epoch)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrDeposed
		}
		return err
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err == nil:
		j.sent = sent
	case j.ended == nil:
		// Whether it was kept is not known: whoever leads next finds out.
		j.ended = err
	}
	return err
}

// call runs f, which uses the session.
func (j *Journal) call(ctx context.Context, f func(context.Context) error) error {
	j.session.Lock()
	defer j.session.Unlock()
	j.mu.Lock()
	ended := j.ended
	j.mu.Unlock()
	if ended != nil {
		return ended
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return f(ctx)
}
