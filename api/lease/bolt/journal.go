package bolt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"go.etcd.io/bbolt"

	"example.com/fairlead/api/lease"
)

// journal is the open file.
type journal struct {
	path  string
	db    *bbolt.DB
	log   *slog.Logger
	sizes sizes
	// room is where a group is encoded.
	room []byte

	// wake tells the compactor that there is something to do.
	wake      chan struct{}
	stop      context.CancelFunc
	compactor sync.WaitGroup

	mu sync.Mutex
	// generation is that of the file; head is the log that is written: its own or, while it
	// is compacted, the next.
	generation, head uint64
	// headBytes and snapshotBytes are what the values sum up to.
	headBytes, snapshotBytes int64
	// compactAt is how large headBytes grows before an unfinished compaction is tried again.
	compactAt int64
	// dead is why nothing can be committed any more.
	dead   error
	closed bool
	file   openedFile
}

var _ lease.Journal = (*journal)(nil)

// measure reads where the last process stopped.
func (j *journal) measure() error {
	return j.db.View(func(tx *bbolt.Tx) error {
		var err error
		if j.generation, err = generation(tx); err != nil {
			return err
		}
		j.head = j.generation
		if tx.Bucket(logBucket(j.head+1)) != nil {
			j.head++
		}
		j.headBytes = bytesOf(tx, logBucket(j.head))
		j.snapshotBytes = bytesOf(tx, snapshotBucket(j.generation))
		return nil
	})
}

// start begins to compact in the background.
func (j *journal) start() {
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.compactor.Go(func() { j.compact(ctx) })
}

// Commit implements lease.Journal.
func (j *journal) Commit(ctx context.Context, changes []lease.Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit to lease file %s: %w", j.path, err)
	}
	if len(changes) == 0 {
		return j.usable()
	}
	group := startValue(j.room)
	for _, c := range changes {
		group = appendChange(group, c.Kind, c.Key, c.Value)
	}
	j.room = seal(group)

	bucket, err := j.target()
	if err != nil {
		return err
	}
	if err := j.db.Update(func(tx *bbolt.Tx) error { return put(tx, bucket, group) }); err != nil {
		return j.die(explain(j.path, err))
	}
	j.committed(int64(len(group)))
	return j.inPlace()
}

// Held implements lease.Journal: the file is locked until it is closed, for whoever finds it
// at its path.
func (j *journal) Held() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fmt.Errorf("lease file %s is closed", j.path)
	}
	return j.file.lookNowAndThen()
}

// Close implements lease.Journal.
func (j *journal) Close() error {
	j.mu.Lock()
	closed := j.closed
	j.closed = true
	j.mu.Unlock()
	if closed {
		return nil
	}
	if j.stop != nil {
		j.stop()
	}
	j.compactor.Wait()
	if err := j.db.Close(); err != nil {
		return fmt.Errorf("close lease file %s: %w", j.path, err)
	}
	return nil
}

func (j *journal) usable() error {
	if err := j.Held(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.dead
}

// die makes every later Commit fail too: after a failed write, what a later one says of
// the disk cannot be relied on.
func (j *journal) die(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dead = errors.Join(j.dead, err)
	return err
}

// target returns the log that the next group belongs to. When one has grown enough, the next
// is begun, and the compactor woken once that is on disk.
func (j *journal) target() ([]byte, error) {
	if err := errors.Join(j.usable(), j.inPlace()); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.head == j.generation && j.headBytes > max(j.sizes.log, 2*j.snapshotBytes) {
		j.head++
		j.headBytes, j.compactAt = 0, 0
	}
	return logBucket(j.head), nil
}

// inPlace fails once the file is not at its path any more, or not all of it: a group that was written into it
// since must not be acknowledged, for another process may lend from the file that is there.
func (j *journal) inPlace() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.look()
}

// committed counts a group, and wakes the compactor if it is time.
func (j *journal) committed(size int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.headBytes += size
	if j.head > j.generation && j.headBytes >= j.compactAt {
		j.compactAt = math.MaxInt64 // until this compaction has failed
		j.wake <- struct{}{}
	}
}
