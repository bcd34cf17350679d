package lease

import "context"

// Place is where a journal is kept: a file, or a database that several replicas share.
type Place interface {
	// Lead returns the journal once this process, and no other, may write it. It waits for
	// that until ctx ends, and fails when the place cannot be written. It may also fail while
	// it waits, to say what for; called again, it goes on.
	Lead(ctx context.Context) (Journal, error)
	// Leader is the URL at which the process that leads serves; empty when nobody is known
	// to lead. It may be asked at any time.
	Leader() string
}
