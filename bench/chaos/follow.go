package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// followCalls reads what the workers write into the call log, until ctx ends.
func (o *observer) followCalls(ctx context.Context, path string) error {
	var at int64
	for {
		next, err := o.readCalls(path, at)
		if err != nil {
			return err
		}
		at = next
		if linger(ctx, 500*time.Millisecond) != nil {
			return nil
		}
	}
}

// readCalls takes in what follows in the call log, and says up to where.
func (o *observer) readCalls(path string, at int64) (next int64, err error) {
	file, err := os.Open(path)          // #nosec G304 -- a file of this run
	if errors.Is(err, os.ErrNotExist) { // no worker has begun yet
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("read the call log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return at, fmt.Errorf("read the call log: %w", err)
	}
	calls, size, err := readCalls(file)
	if err != nil {
		return at, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range calls {
		o.heard(c)
	}
	return at + size, nil
}

// awaitLandings waits until every lost attempt has landed, or died with its worker:
// nothing may come of one once its object is gone.
func (o *observer) awaitLandings(ctx context.Context) error {
	o.mu.Lock()
	rest := time.Until(o.landing.Add(landingSlack))
	o.mu.Unlock()
	if rest <= 0 {
		return nil
	}
	return linger(ctx, rest)
}

// landingSlack is for the call itself, and for the log of it to be read.
const landingSlack = 3 * time.Second

// heard takes in a call. It is called with the lock.
func (o *observer) heard(c call) {
	if c.Fault != faultNone && c.Note == "" && c.Wrong == "" {
		o.faults[c.Fault]++
	}
	if c.Method == methodCreate && c.Fault == faultLandsLate {
		if at := c.At.Add(delayOf(o.seed, c.Who, c.Method, c.N)); at.After(o.landing) {
			o.landing = at
		}
	}
	s := o.byInstance[c.Instance]
	if s == nil {
		return
	}
	if c.Method != methodGet || c.Fault != faultNone {
		o.tell(s, "call    at %s %s %d %s%s%s", c.At.UTC().Format("15:04:05.000"), c.Method, c.N, c.Fault, c.Note, c.Wrong)
	}
	if c.Wrong != "" && !s.abandoned {
		o.fail(&violation{leaked, s.ref.UID, c.Wrong})
	}
}
