package main

import (
	"context"
	"testing"
	"time"
)

func TestOnlyWhereThePulseMissedTheMachineStoodStill(t *testing.T) {
	p := newPulse(nil, "")
	for _, beat := range []span{{0, 5 * ms}, {100 * ms, 200 * ms}, {1000 * ms, 1600 * ms}} {
		p.felt(beat)
	}
	for _, tt := range []struct {
		name   string
		within span
		want   time.Duration
	}{
		{"before", span{0, 1000 * ms}, 0},
		{"all of it", span{0, 2000 * ms}, 500 * ms},
		{"its beginning", span{0, 1200 * ms}, 100 * ms},
		{"its end", span{1500 * ms, 2000 * ms}, 100 * ms},
		{"its middle", span{1200 * ms, 1300 * ms}, 100 * ms},
		{"after", span{1600 * ms, 2000 * ms}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := p.stalled(tt.within); got != tt.want {
				t.Errorf("it stood still for %s, want %s", got, tt.want)
			}
		})
	}
}

func TestThePulseEndsWithItsContext(t *testing.T) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*pulseEvery)
	defer cancel()
	if err := newPulse(func() time.Duration { return time.Since(start) }, t.TempDir()).beat(ctx); err != nil {
		t.Error(err)
	}
	if err := newPulse(func() time.Duration { return time.Since(start) }, "/nowhere").beat(t.Context()); err == nil {
		t.Error("without its directory it beats all the same")
	}
}
