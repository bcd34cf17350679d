package main

import (
	"context"
	"fmt"
	"time"
)

// linger lets time go by. It fails when ctx ends.
func linger(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// wait waits until something is closed. It fails when ctx ends.
func wait(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closed:
		return nil
	}
}

// insist tries again until it succeeds: while a server is down, everything fails.
func insist(ctx context.Context, what string, try func(context.Context) error) error {
	const first, longest, call = 50 * time.Millisecond, time.Second, 10 * time.Second
	for wait := first; ; wait = min(2*wait, longest) {
		attempt, cancel := context.WithTimeout(ctx, call)
		err := try(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if ended := linger(ctx, wait); ended != nil {
			return fmt.Errorf("%s: %w (last: %w)", what, ended, err)
		}
	}
}
