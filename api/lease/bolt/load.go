package bolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"

	"example.com/fairlead/api/lease"
)

// Load implements lease.Journal. A commit must not be made from within each.
func (j *journal) Load(ctx context.Context, each func(lease.Change) error) error {
	return j.db.View(func(tx *bbolt.Tx) error {
		g, err := generation(tx)
		if err != nil {
			return explain(j.path, err)
		}
		fold := newFold()
		for _, bucket := range [][]byte{logBucket(g + 1), logBucket(g), snapshotBucket(g)} {
			for key, value := range newestFirst(tx, bucket, nil) {
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("load lease file %s: %w", j.path, err)
				}
				kept, err := fold.add(value)
				if err != nil {
					return explain(j.path, damaged(bucket, key, err))
				}
				for _, e := range kept {
					if err := each(lease.Change{Kind: e.kind, Key: string(e.key), Value: bytes.Clone(e.value)}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// fold tells the things that are kept from those that were replaced or deleted later. It is
// shown what was written newest first, so the first that it sees of a thing is how it is.
type fold struct {
	seen          map[string]struct{}
	entries, kept []entry
	name          []byte
}

func newFold() *fold { return &fold{seen: map[string]struct{}{}} }

// add returns the things in value that nothing newer was seen of and that are not gone, until
// it is called again.
func (f *fold) add(value []byte) ([]entry, error) {
	body, err := unseal(value)
	if err != nil {
		return nil, err
	}
	if f.entries, err = appendEntries(f.entries[:0], body); err != nil {
		return nil, err
	}
	f.kept = f.kept[:0]
	for _, e := range slices.Backward(f.entries) {
		if f.first(e) && e.value != nil {
			f.kept = append(f.kept, e)
		}
	}
	return f.kept, nil
}

func (f *fold) first(e entry) bool {
	f.name = append(append(f.name[:0], byte(e.kind)), e.key...)
	if _, ok := f.seen[string(f.name)]; ok {
		return false
	}
	f.seen[string(f.name)] = struct{}{}
	return true
}

// newestFirst ranges over the bucket from its last key down, or from the one before the key
// before if that is not nil. A bucket that does not exist has no keys.
func newestFirst(tx *bbolt.Tx, bucket, before []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		b := tx.Bucket(bucket)
		if b == nil {
			return
		}
		cursor := b.Cursor()
		key, value := cursor.Last()
		if before != nil {
			cursor.Seek(before)
			key, value = cursor.Prev()
		}
		for key != nil && yield(key, value) {
			key, value = cursor.Prev()
		}
	}
}

// bytesOf sums up the values of a bucket.
func bytesOf(tx *bbolt.Tx, bucket []byte) int64 {
	var sum int64
	for _, value := range newestFirst(tx, bucket, nil) {
		sum += int64(len(value))
	}
	return sum
}
