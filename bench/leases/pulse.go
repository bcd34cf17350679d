package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	pulseEvery = 50 * time.Millisecond
	// pulseTakes is what a beat takes on a machine that only has much to do.
	pulseTakes = 100 * time.Millisecond
)

// pulse beats as long as the machine does, by keeping a few bytes on its disk. Where it stood
// still, be it for a neighbour's sake, nobody could have served. It is safe for concurrent use.
type pulse struct {
	now  func() time.Duration
	path string

	mu     sync.Mutex
	stalls []span
}

func newPulse(now func() time.Duration, dir string) *pulse {
	return &pulse{now: now, path: filepath.Join(dir, "pulse")}
}

// beat beats until ctx ends.
func (p *pulse) beat(ctx context.Context) error {
	f, err := os.Create(p.path)
	if err != nil {
		return fmt.Errorf("feel the machine's pulse: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing in it matters
	for {
		begun := p.now()
		if linger(ctx, pulseEvery) != nil {
			return nil
		}
		if _, err := f.WriteAt([]byte("beat"), 0); err != nil {
			return fmt.Errorf("feel the machine's pulse: %w", err)
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("feel the machine's pulse: %w", err)
		}
		p.felt(span{begun + pulseEvery, p.now()})
	}
}

// felt takes in a beat.
func (p *pulse) felt(beat span) {
	if beat.got-beat.sent <= pulseTakes {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalls = append(p.stalls, span{beat.sent + pulseTakes, beat.got})
}

// stalled is for how long within s the machine stood still.
func (p *pulse) stalled(s span) (sum time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stall := range p.stalls {
		sum += max(0, min(stall.got, s.got)-max(stall.sent, s.sent))
	}
	return sum
}
