package main

import (
	"context"
	"fmt"
	"time"

	"example.com/fairlead/bench/internal/dice"
)

// blow is what happens to a part of the installation.
type blow string

const (
	blowWorker   blow = "the worker is killed"
	blowStarter  blow = "the starter is killed"
	blowSecond   blow = "a second starter runs for a while"
	blowAPI      blow = "the API server and etcd are killed"
	blowTemporal blow = "the Temporal server is killed"
)

// blowAt is a blow, and how long after the one before it falls.
type blowAt struct {
	after time.Duration
	blow  blow
	// lasts is how long the part stays down, or runs.
	lasts time.Duration
}

// firstBlows are those of a short run too; then they come more slowly, so that most
// of what they interrupt comes to an end before the next.
var firstBlows = []blow{blowWorker, blowSecond, blowAPI, blowStarter, blowTemporal, blowWorker}

var laterBlows = []weighted[blow]{{50, blowWorker}, {18, blowStarter}, {18, blowSecond}, {8, blowAPI}, {6, blowTemporal}}

// nthBlow draws a blow, counted from 0.
func nthBlow(seed uint64, n int) blowAt {
	d := dice.New(seed, "blow", n)
	b := blowAt{lasts: d.Between(0, 3*time.Second)}
	if n < len(firstBlows) {
		b.after, b.blow = d.Between(3*time.Second, 7*time.Second), firstBlows[n]
	} else {
		b.after, b.blow = d.Between(10*time.Second, 35*time.Second), draw(d, laterBlows)
	}
	return b
}

// strike lets blows fall, the first ones in any case, until all lifecycles have begun.
func (r *run) strike(ctx context.Context) error {
	for n := 0; ; n++ {
		b := nthBlow(r.seed, n)
		if linger(ctx, b.after) != nil || n >= len(firstBlows) && r.progress.counted(lifecyclesBegun) == r.lifecycles {
			return nil
		}
		r.progress.throw(string(b.blow))
		r.progress.printf("%s", b.blow)
		if err := r.fall(ctx, b); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", b.blow, err)
		}
	}
}

func (r *run) fall(ctx context.Context, b blowAt) error {
	switch b.blow {
	case blowWorker:
		r.worker.kill()
	case blowStarter:
		r.starter.kill()
	case blowSecond:
		return r.runSecondStarter(ctx, 5*b.lasts)
	case blowAPI:
		return r.stack.api.blow(ctx, b.lasts)
	case blowTemporal:
		return r.stack.tempo.blow(ctx, b.lasts)
	}
	return nil
}

// runSecondStarter runs another starter beside the first one, and kills it.
func (r *run) runSecondStarter(ctx context.Context, lasts time.Duration) error {
	while, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	p, err := startProgram(while, r.dir, "second-starter", roleStarter, r.role)
	if err != nil {
		return err
	}
	<-p.done
	return nil
}
