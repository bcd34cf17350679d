package git

import (
	"context"
	"io"
)

// Waiting is how many callers wait for commits.
func (r *Reader) Waiting() int { return r.flights.Waiting() }

// Held is how many repositories are in use.
func (r *Reader) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.held)
}

// Measure measures a pack.
func (r *Reader) Measure(ctx context.Context, pack io.ReadSeeker) error {
	r.once.Do(r.prepare)
	return r.measure(ctx, pack)
}
