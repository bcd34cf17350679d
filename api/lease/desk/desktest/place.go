// Package desktest has a place for leases that tests can spoil, and a desk that runs on it.
package desktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/lease/desk"
)

// ErrTaken is the error of a journal that another process has taken over.
var ErrTaken = errors.New("another process leads")

// Place is a lease.Place in memory.
type Place struct {
	mu     sync.Mutex
	kept   map[string]lease.Change
	holder *journal
	leader string
	fail   error
	leads  int
	// free is closed while anybody may lead.
	free chan struct{}
}

// NewPlace returns an empty Place that whoever asks may lead.
func NewPlace() *Place {
	p := &Place{kept: map[string]lease.Change{}, free: make(chan struct{})}
	close(p.free)
	return p
}

// Lead implements lease.Place.
func (p *Place) Lead(ctx context.Context) (lease.Journal, error) {
	for {
		p.mu.Lock()
		free, fail := p.free, p.fail
		select {
		case <-free:
			defer p.mu.Unlock()
			p.leads++
			if fail != nil {
				return nil, fail
			}
			p.holder = &journal{place: p}
			return p.holder, nil
		default:
		}
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-free:
		}
	}
}

// Leader implements lease.Place.
func (p *Place) Leader() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leader
}

// Fail makes whoever leads, or wants to, fail with err; nil ends that.
func (p *Place) Fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = err
}

// Take has another process lead, which serves at url, until GiveBack.
func (p *Place) Take(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holder, p.leader, p.free = nil, url, make(chan struct{})
}

// GiveBack ends what Take began.
func (p *Place) GiveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leader = ""
	close(p.free)
}

// Leads says how often somebody could have led.
func (p *Place) Leads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leads
}

// journal is one term of a leader.
type journal struct{ place *Place }

func (j *journal) Load(_ context.Context, each func(lease.Change) error) error {
	j.place.mu.Lock()
	kept := maps.Clone(j.place.kept)
	j.place.mu.Unlock()
	for _, c := range kept {
		if err := each(c); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) Commit(_ context.Context, changes []lease.Change) error {
	j.place.mu.Lock()
	defer j.place.mu.Unlock()
	if err := j.held(); err != nil {
		return err
	}
	for _, c := range changes {
		key := fmt.Sprintf("%c%s", c.Kind, c.Key)
		if c.Value == nil {
			delete(j.place.kept, key)
		} else {
			j.place.kept[key] = c
		}
	}
	return nil
}

func (j *journal) Held() error {
	j.place.mu.Lock()
	defer j.place.mu.Unlock()
	return j.held()
}

func (j *journal) held() error {
	if j.place.holder != j {
		return ErrTaken
	}
	return j.place.fail
}

func (j *journal) Close() error { return nil }

// Start runs d until the test ends, or the function that it returns is called.
func Start(t testing.TB, d *desk.Desk) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); d.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// Run is Start that waits for the first engine, unless another process leads.
func Run(t testing.TB, d *desk.Desk) (stop func()) {
	t.Helper()
	stop = Start(t, d)
	var notLeading *desk.NotLeadingError
	if _, err := d.Engine(); errors.As(err, &notLeading) && notLeading.URL != "" {
		return stop
	}
	select {
	case <-d.Opened():
	case <-time.After(time.Minute):
		t.Fatal("no engine was opened")
	}
	return stop
}
