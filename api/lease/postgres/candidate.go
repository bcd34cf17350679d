package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// takeRow takes the leader's row if its time is over, or if it is still the one that was
// frozen, and tells whose it was before. The time over is looked at again after a wait
// for another session that writes the row.
const takeRow = `
WITH taken AS (
	UPDATE leader SET epoch = epoch + 1, holder = $1, url = $2, expires_at = clock_timestamp() + $3
	WHERE expires_at < clock_timestamp() OR (epoch = $4 AND expires_at = $5)
	RETURNING epoch
)
SELECT coalesce((SELECT epoch FROM taken), 0), epoch, expires_at, url, expires_at - clock_timestamp() FROM leader`

// endExpired ends the sessions of a leader whose time is over: a statement of which the
// process was stopped, or cut off, before it was sent completely has the row locked, and
// no timeout of PostgreSQL 15 ends that.
const endExpired = `
SELECT pg_terminate_backend(pid) FROM pg_stat_activity, leader
WHERE application_name = '` + applicationPrefix + `' || holder AND datname = current_database() AND expires_at < clock_timestamp()`

// putRowBack makes up for a row that somebody deleted. Whoever led until then may think so for
// as long as it had, so nobody may lead before; and no epoch was as high yet as the
// microseconds, even where the row is deleted twice.
const putRowBack = `
INSERT INTO leader (epoch, holder, url, expires_at)
VALUES (extract(epoch FROM clock_timestamp()) * 1000000, '', '', clock_timestamp() + $1) ON CONFLICT DO NOTHING`

// lockNotAvailable is how PostgreSQL reports that lock_timeout is over.
const lockNotAvailable = "55P03"

// candidate waits for the leader's row.
type candidate struct {
	place *Place
	conn  *pgx.Conn
	// last is what was seen of the row, and since when it has not changed.
	last struct {
		epoch     int64
		expiresAt time.Time
		since     time.Time
	}
}

// take tries to take the row. It returns the epoch, 0 when somebody else leads, and when it
// asked.
func (c *candidate) take(ctx context.Context) (epoch int64, sent time.Time, err error) {
	epoch, sent, err = c.try(ctx)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != lockNotAvailable {
		return epoch, sent, err
	}
	if err := c.endExpired(ctx); err != nil {
		return 0, sent, err
	}
	return c.try(ctx)
}

func (c *candidate) try(ctx context.Context) (taken int64, sent time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var (
		epoch     int64
		expiresAt time.Time
		url       string
		remaining time.Duration
	)
	frozenEpoch, frozenAt := c.frozen()
	sent = c.place.options.Clock.Now()
	row := c.conn.QueryRow(ctx, takeRow, c.place.holder, c.place.options.URL, timeToLive, frozenEpoch, frozenAt)
	err = row.Scan(&taken, &epoch, &expiresAt, &url, &remaining)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, sent, c.putRowBack(ctx)
	case err != nil:
		return 0, sent, fmt.Errorf("take the leader's row: %w", err)
	}
	if taken == 0 {
		now := c.place.options.Clock.Now()
		c.place.see(leader{url: url, until: now.Add(min(remaining, timeToLive))})
		if epoch != c.last.epoch || !expiresAt.Equal(c.last.expiresAt) {
			c.last.epoch, c.last.expiresAt, c.last.since = epoch, expiresAt, now
		}
	}
	return taken, sent, nil
}

// frozen is the row as it has been for so long that its leader cannot live any more; epoch
// -1 is no row's.
func (c *candidate) frozen() (epoch int64, expiresAt time.Time) {
	if c.last.since.IsZero() || c.place.options.Clock.Since(c.last.since) < frozenAfter {
		return -1, time.Time{}
	}
	return c.last.epoch, c.last.expiresAt
}

func (c *candidate) putRowBack(ctx context.Context) error {
	if _, err := c.conn.Exec(ctx, putRowBack, timeToLive); err != nil {
		return fmt.Errorf("put the leader's row back, which was deleted: %w", err)
	}
	return nil
}

func (c *candidate) endExpired(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := c.conn.Exec(ctx, endExpired); err != nil {
		return fmt.Errorf("end the sessions of the leader whose time is over: %w", err)
	}
	return nil
}
