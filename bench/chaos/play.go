package main

import (
	"context"
	"fmt"
	"sync"

	"example.com/fairlead/deploy/local/echo"
)

// play runs the scripts, and all that goes on beside them.
func (r *run) play(ctx context.Context, scripts []script) (err error) {
	beside, end := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer end()
	if r.worker, err = startProgram(beside, r.dir, "worker", roleWorker, r.role); err != nil {
		return err
	}
	if r.starter, err = startProgram(beside, r.dir, "starter", roleStarter, r.role); err != nil {
		return err
	}
	others.Go(func() { <-r.worker.done; <-r.starter.done })
	others.Go(func() { r.observer.watch(beside) })
	others.Go(func() { r.watchEnds(beside) })
	others.Go(func() { r.sweep(beside) })
	others.Go(func() { r.progress.print(beside, r) })
	for _, watch := range []func() error{
		func() error { return r.observer.scan(beside) },
		func() error { return r.observer.followCalls(beside, r.role.CallLog) },
		func() error { return r.strike(beside) },
		func() error { return echo.Serve(beside, r.target) },
	} {
		others.Go(func() {
			if err := watch(); err != nil {
				r.stop(err)
			}
		})
	}
	return r.playAll(ctx, scripts)
}

// playAll runs the scripts to their end.
func (r *run) playAll(ctx context.Context, scripts []script) error {
	var all sync.WaitGroup
	r.settled.Add(len(scripts))
	for _, s := range scripts {
		all.Go(func() {
			stays := s.lives[len(s.lives)-1].ending == stays
			err := r.lifecycle(ctx, s)
			if err != nil {
				r.stop(fmt.Errorf("lifecycle %d: %w", s.lifecycle, err))
			}
			if !stays {
				r.settled.Done()
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if err == nil {
				r.result.lifecycles++
			}
		})
	}
	settled := make(chan struct{})
	go func() {
		r.settled.Wait()
		close(settled)
	}()
	if wait(ctx, settled) == nil && r.checkQuiet(ctx) == nil {
		r.progress.printf("all is quiet: instances = live objects")
		close(r.quiet)
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := r.observer.awaitLandings(ctx); err != nil {
		return err
	}
	return r.checkQuiet(ctx)
}
