// Package bolt keeps a lease engine's journal in a bbolt file.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	berrors "go.etcd.io/bbolt/errors"

	"example.com/fairlead/api/lease"
)

const (
	// lockRound is how long the file's lock is waited for before the context is looked at.
	lockRound = 250 * time.Millisecond
	// roundsUntilTold is after how many of them Lead says once what it waits for.
	roundsUntilTold = 8
)

// Place is a file that one process at a time has open.
type Place struct {
	path  string
	log   *slog.Logger
	sizes sizes
	// told: whoever leads knows that another process has the file open.
	told atomic.Bool
}

var _ lease.Place = (*Place)(nil)

// New returns the place of the file at path. The file is made, and opened, by Lead. The log
// hears of compactions that failed.
func New(path string, log *slog.Logger) *Place {
	return &Place{path: path, log: log, sizes: defaultSizes}
}

// Lead implements lease.Place. While another process has the file open it fails once, so that
// people hear of it; called again, it waits.
func (p *Place) Lead(ctx context.Context) (lease.Journal, error) {
	for round := 1; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("wait for lease file %s: %w", p.path, err)
		}
		j, err := p.open()
		if err == nil {
			p.told.Store(false)
			j.start()
			return j, nil
		}
		if !errors.Is(err, berrors.ErrTimeout) {
			return nil, err
		}
		if round >= roundsUntilTold && p.told.CompareAndSwap(false, true) {
			return nil, err
		}
	}
}

// Leader implements lease.Place: whoever has the file open is not known.
func (p *Place) Leader() string { return "" }

// open returns the journal at rest, with its compactor not started. It fails with
// berrors.ErrTimeout while another process has the file open.
func (p *Place) open() (*journal, error) {
	if err := createIfAbsent(p.path); err != nil {
		return nil, err
	}
	if err := inspect(p.path); err != nil {
		return nil, err
	}
	file := openedFile{path: p.path}
	db, err := openFileBy(p.path, file.open)
	if err != nil {
		return nil, explain(p.path, err)
	}
	j := &journal{path: p.path, file: file, db: db, log: p.log, sizes: p.sizes, wake: make(chan struct{}, 1)}
	err = j.measure()
	if err == nil && j.head > j.generation {
		err = j.compaction().discard()
	}
	if err == nil {
		err = tryDisk(db)
	}
	if err != nil {
		return nil, errors.Join(explain(p.path, err), db.Close())
	}
	return j, nil
}
