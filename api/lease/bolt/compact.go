package bolt

import (
	"bytes"
	"context"
	"errors"

	"go.etcd.io/bbolt"
)

// compact folds one generation after another into the next, whenever it is woken.
func (j *journal) compact(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
		}
		c := j.compaction()
		err := c.run(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			j.compacted(c)
		case noRoom(err):
			j.log.Warn("the lease file was not compacted; it grows until there is room on its disk", "file", j.path, "error", err)
			j.postpone()
		default:
			j.log.Error("the lease file was not compacted", "file", j.path, "error", j.die(explain(j.path, err)))
			return
		}
	}
}

// compaction returns the one that is due.
func (j *journal) compaction() *compaction {
	j.mu.Lock()
	defer j.mu.Unlock()
	return &compaction{
		db: j.db, inPlace: j.inPlace, sizes: j.sizes, generation: j.generation, fold: newFold(),
		sources: [][]byte{logBucket(j.generation), snapshotBucket(j.generation)},
	}
}

func (j *journal) compacted(c *compaction) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.generation++
	j.snapshotBytes = c.written
}

// postpone has a compaction that failed tried again when the log has grown by some.
func (j *journal) postpone() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.compactAt = j.headBytes + j.sizes.log/8
}

// compaction makes the snapshot of the next generation out of the snapshot and the log of
// this one, which nobody writes any more. It never holds a transaction for long: commits go on
// meanwhile, and pages that they free are used again only when no reader is left.
type compaction struct {
	db         *bbolt.DB
	inPlace    func() error
	sizes      sizes
	generation uint64
	fold       *fold
	// sources are the buckets that are not read yet, the newest first.
	sources [][]byte
	// before is the last key that was read of sources[0]; nil if none was.
	before []byte
	// written is the size of the values of the snapshot.
	written int64
}

func (c *compaction) run(ctx context.Context) error {
	err := c.inPlace()
	if err == nil {
		err = c.discard()
	}
	for err == nil && len(c.sources) > 0 {
		if err = errors.Join(ctx.Err(), c.inPlace()); err == nil {
			err = c.step()
		}
	}
	if err == nil {
		err = c.finish()
	}
	if noRoom(err) {
		return errors.Join(err, c.discard())
	}
	return err
}

// discard throws away what was begun: commits need its pages more.
func (c *compaction) discard() error {
	return c.db.Update(func(tx *bbolt.Tx) error { return discard(tx, snapshotBucket(c.generation+1)) })
}

// step reads on for a while, and writes what of it is still there.
func (c *compaction) step() error {
	pack := pack{limit: c.sizes.value}
	if err := c.db.View(func(tx *bbolt.Tx) error { return c.read(tx, &pack) }); err != nil {
		return err
	}
	values := pack.sealed()
	if len(values) == 0 {
		return nil
	}
	if left, err := room(c.db); err != nil || left < 2*int64(c.sizes.tx) {
		return errors.Join(errNoRoom, err)
	}
	c.written += int64(pack.size)
	return c.db.Update(func(tx *bbolt.Tx) error {
		for _, value := range values {
			if err := put(tx, snapshotBucket(c.generation+1), value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *compaction) read(tx *bbolt.Tx, pack *pack) error {
	read := 0
	for key, value := range newestFirst(tx, c.sources[0], c.before) {
		kept, err := c.fold.add(value)
		if err != nil {
			return damaged(c.sources[0], key, err)
		}
		for _, e := range kept {
			pack.add(e)
		}
		read += len(value)
		if pack.size >= c.sizes.tx || read >= 4*c.sizes.tx {
			c.before = bytes.Clone(key)
			return nil
		}
	}
	c.sources, c.before = c.sources[1:], nil
	return nil
}

// finish makes the snapshot count.
func (c *compaction) finish() error {
	return c.db.Update(func(tx *bbolt.Tx) error {
		if err := setGeneration(tx, c.generation+1); err != nil {
			return err
		}
		for _, bucket := range [][]byte{snapshotBucket(c.generation), logBucket(c.generation)} {
			if err := discard(tx, bucket); err != nil {
				return err
			}
		}
		return nil
	})
}

// pack fills values with entries.
type pack struct {
	limit  int
	values [][]byte
	// size of all values.
	size int
}

func (p *pack) add(e entry) {
	last := len(p.values) - 1
	if last < 0 || len(p.values[last]) >= p.limit {
		p.values = append(p.values, startValue(nil))
		p.size += headerSize
		last++
	}
	before := len(p.values[last])
	p.values[last] = appendChange(p.values[last], e.kind, e.key, e.value)
	p.size += len(p.values[last]) - before
}

func (p *pack) sealed() [][]byte {
	for _, value := range p.values {
		seal(value)
	}
	return p.values
}
