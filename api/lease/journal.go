package lease

import "context"

// Kind tells what a Change is about.
type Kind byte

// Change is one thing of an Engine's state as it is now, not what was done to it: applied
// twice, or over a later one that follows anew, it does no harm.
type Change struct {
	Kind Kind
	// Key is unique within the Kind, of at most 1 KiB.
	Key string
	// Value is nil when the thing is gone.
	Value []byte
}

// Journal keeps an Engine's state. It is called by one goroutine at a time, but for Held.
type Journal interface {
	// Load calls each with every thing that is kept, in no order. The bytes of a Change are
	// each's to keep.
	Load(ctx context.Context, each func(Change) error) error
	// Commit keeps changes, all or none, later ones over earlier ones. They are on disk when
	// it returns nil. After an error they may be kept or not, and the Journal is of no use but
	// to be closed.
	Commit(ctx context.Context, changes []Change) error
	// Held returns an error once another process may have committed since the last Commit of
	// this one: what is read from memory after that may be outdated. It is asked at any time,
	// by many, also while Commit or Close is under way and after that.
	Held() error
	// Close gives the journal up to whoever comes next.
	Close() error
}
