package bolt

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
)

// The file has a bucket of facts about itself, and for each generation g a snapshot and the
// log of what was committed since. Things are as the snapshot has them, changed by the log,
// and by the log of g+1 if there is one: then g is being compacted into the snapshot of g+1,
// which counts for nothing until the generation is g+1.
var (
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	generationKey = []byte("generation")
	ballastKey    = []byte("ballast")
)

const format = "fairlead-leases/1"

// sizes bound how the file grows, in bytes.
type sizes struct {
	// log is how large a log is at least before it is compacted.
	log int64
	// value is how large a value of a snapshot may become.
	value int
	// tx is how much a transaction of a compaction writes: commits wait for it.
	tx int
}

var defaultSizes = sizes{log: 8 << 20, value: 32 << 10, tx: 1 << 20}

func logBucket(generation uint64) []byte { return fmt.Appendf(nil, "log-%d", generation) }

func snapshotBucket(generation uint64) []byte { return fmt.Appendf(nil, "snapshot-%d", generation) }

// sequenceKey makes keys that sort like their numbers.
func sequenceKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// initialize makes an empty file one of the format.
func initialize(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucket(metaBucket)
	if err != nil {
		return err
	}
	if err := meta.Put(formatKey, []byte(format)); err != nil {
		return err
	}
	return setGeneration(tx, 1)
}

// generation returns the current one.
func generation(tx *bbolt.Tx) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil || string(meta.Get(formatKey)) != format {
		return 0, errFormat
	}
	value := meta.Get(generationKey)
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: value %s/%s: %w", errDamaged, metaBucket, generationKey, errCut)
	}
	return binary.BigEndian.Uint64(value), nil
}

func setGeneration(tx *bbolt.Tx, generation uint64) error {
	return tx.Bucket(metaBucket).Put(generationKey, sequenceKey(generation))
}

// put appends value to the bucket, which is made if there is none.
func put(tx *bbolt.Tx, bucket, value []byte) error {
	b := tx.Bucket(bucket)
	if b == nil {
		var err error
		if b, err = tx.CreateBucket(bucket); err != nil {
			return err
		}
	}
	b.FillPercent = 1 // keys only grow, so nothing will come in between
	n, err := b.NextSequence()
	if err != nil {
		return err
	}
	return b.Put(sequenceKey(n), value)
}

// discard deletes the bucket if there is one.
func discard(tx *bbolt.Tx, bucket []byte) error {
	if tx.Bucket(bucket) == nil {
		return nil
	}
	return tx.DeleteBucket(bucket)
}
