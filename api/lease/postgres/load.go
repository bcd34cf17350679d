package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/fairlead/api/lease"
)

// loadPage reads on after a thing.
const loadPage = `SELECT kind, key, value FROM state WHERE (kind, key) > ($1, $2) ORDER BY kind, key LIMIT $3`

// pageSize bounds what is read at once, so that each page is there long before its time-out,
// and the row can be renewed in between.
const pageSize = 10_000

// Load calls each with all that is kept. Nobody else writes meanwhile.
func (j *Journal) Load(ctx context.Context, each func(lease.Change) error) error {
	kind, key := int16(-1), []byte{} // before all others
	for {
		page, err := j.page(ctx, kind, key)
		if err != nil {
			return fmt.Errorf("load leases from %s: %w", remedy, err)
		}
		for _, c := range page {
			if err := each(c); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		last := page[len(page)-1]
		kind, key = int16(last.Kind), []byte(last.Key)
	}
}

func (j *Journal) page(ctx context.Context, kind int16, key []byte) (page []lease.Change, err error) {
	err = j.call(ctx, func(ctx context.Context) error {
		rows, err := j.conn.Query(ctx, loadPage, kind, key, pageSize)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, scan)
		return err
	})
	return page, err
}

func scan(row pgx.CollectableRow) (lease.Change, error) {
	var (
		kind int16
		key  []byte
		c    lease.Change
	)
	err := row.Scan(&kind, &key, &c.Value)
	c.Kind, c.Key = lease.Kind(kind), string(key) // #nosec G115 -- it was one when it was kept
	return c, err
}
