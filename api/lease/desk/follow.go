package desk

import (
	"context"
	"errors"
	"time"

	"example.com/fairlead/api/lease"
)

// lookEvery is how often those that follow look who leads.
const lookEvery = 500 * time.Millisecond

// ErrMoved is the error of those that follow a process that lends no more.
var ErrMoved = errors.New("another process lends now")

// Follow waits as long as the process at url may be the one that lends. It returns ErrMoved
// when another one does, lease.ErrStopped when this process ends, or the error of ctx. That
// nobody is known to lead says nothing against url: the place may be out of reach from here
// alone.
func (d *Desk) Follow(ctx context.Context, url string) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.ending:
			return lease.ErrStopped
		case <-look.C:
			if d.moved(url) {
				return ErrMoved
			}
		}
	}
}

func (d *Desk) moved(url string) bool {
	if s := d.now.Load(); s.engine != nil || s.leads {
		return true
	}
	leader := d.Place.Leader()
	return leader != "" && leader != url
}
