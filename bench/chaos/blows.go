package main

import (
	"context"
	"errors"
	"fmt"
	"time"
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
	d := newDice(seed, "blow", n)
	b := blowAt{lasts: d.between(0, 3*time.Second)}
	if n < len(firstBlows) {
		b.after, b.blow = d.between(3*time.Second, 7*time.Second), firstBlows[n]
	} else {
		b.after, b.blow = d.between(10*time.Second, 35*time.Second), draw(d, laterBlows)
	}
	return b
}

// strike lets blows fall, the first ones in any case, until all lifecycles have begun.
func (r *run) strike(ctx context.Context) error {
	begun, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		_ = r.progress.awaitAllBegun(begun) // it fails only when ctx ends
	}()
	for n := 0; ; n++ {
		b, until := nthBlow(r.seed, n), begun
		if n < len(firstBlows) {
			until = ctx
		}
		if linger(until, b.after) != nil {
			return nil
		}
		r.progress.struck(b.blow)
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

// gate is passed by all once it is open.
type gate struct{ open chan struct{} }

func (g gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// quietLimit is how long it may take until nothing is under way any more.
const quietLimit = 2 * time.Minute

// checkQuiet holds what is left to the objects that are left, each Ready with one
// instance, and one process that serves.
func (r *run) checkQuiet(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	err := insist(limited, "compare what is left", func(context.Context) error { return r.observer.compareAll() })
	if err != nil && ctx.Err() == nil {
		r.fail(&violation{leaked, "", "all is quiet, but " + err.Error()})
	}
	return err
}

// compareAll compares the objects with the directories and the processes.
func (o *observer) compareAll() error {
	ours := func(uid, name string) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		s := o.subjects[uid]
		if s == nil {
			s = o.byInstance[name]
		}
		return s == nil || !s.abandoned
	}
	dirs, processes := map[string]int{}, map[string]int{} // by the name of the instance
	for prov, dir := range o.stateDirs {
		all, err := readInstances(prov, dir)
		if err != nil {
			return err
		}
		for _, i := range all {
			if ours(i.uid, i.name) {
				dirs[i.name]++
			}
		}
	}
	running, err := readProcesses(o.owner)
	if err != nil {
		return err
	}
	for _, p := range running {
		if ours("", p.name()) {
			processes[p.name()]++
		}
	}
	return o.match(dirs, processes)
}

func (o *observer) match(dirs, processes map[string]int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for name, s := range o.byInstance {
		want := 1
		if s.gone || s.abandoned {
			want = 0
		} else if !current(s.now) {
			errs = append(errs, fmt.Errorf("proxy %s (%s) is not Ready: %s", s.ref, s.who, brief(s.now)))
		}
		if dirs[name] != want || processes[name] != want {
			errs = append(errs, fmt.Errorf("proxy %s (%s), %s, has %d directories and %d processes, not %d", s.ref, s.who, brief(s.now), dirs[name], processes[name], want))
		}
		delete(dirs, name)
		delete(processes, name)
	}
	if len(dirs)+len(processes) > 0 {
		errs = append(errs, fmt.Errorf("directories %v and processes %v belong to no object", dirs, processes))
	}
	return errors.Join(errs...)
}
