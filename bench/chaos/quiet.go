package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// quietLimit is how long it may take until nothing is under way any more.
const quietLimit = 4 * time.Minute

// checkQuiet holds what is left to the objects that are left, each Ready with one
// instance, and one process that serves.
func (r *run) checkQuiet(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	err := insist(limited, "compare what is left", func(context.Context) error { return r.observer.compareAll() })
	if err != nil && ctx.Err() == nil {
		v := leaked
		if errors.Is(err, errUnready) {
			v = stuck
		}
		r.fail(&violation{v, "", "all is quiet, but " + err.Error()})
	}
	return err
}

// compareAll compares the objects with the directories and the processes.
func (o *observer) compareAll() error {
	left := remains{dirs: map[string]int{}, processes: map[string]int{}}
	for prov, dir := range o.stateDirs {
		all, err := readInstances(prov, dir)
		if err != nil {
			return err
		}
		for _, i := range all {
			left.dirs[i.name]++
		}
	}
	running, err := readProcesses(o.owner)
	if err != nil {
		return err
	}
	for _, p := range running {
		left.processes[p.name()]++
		if !p.listening {
			left.idle = append(left.idle, p.name())
		}
	}
	return o.match(left)
}

// errUnready is wrapped where all that is wrong is that proxies are not Ready.
var errUnready = errors.New("not all proxies are Ready")

// remains are what is there, by the name of the instance.
type remains struct {
	dirs, processes map[string]int
	// idle processes do not serve.
	idle []string
}

func (o *observer) match(left remains) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs, unready []error
	for name, s := range o.byInstance {
		dirs, processes, want := left.dirs[name], left.processes[name], 1
		delete(left.dirs, name)
		delete(left.processes, name)
		switch {
		case s.abandoned:
			continue
		case s.gone:
			want = 0
		case !current(s.now):
			unready = append(unready, fmt.Errorf("proxy %s (%s) is not Ready: %s", s.ref, s.who, brief(s.now)))
		case slices.Contains(left.idle, name):
			errs = append(errs, fmt.Errorf("the process of proxy %s (%s) does not listen", s.ref, s.who))
		}
		if dirs != want || processes != want {
			errs = append(errs, fmt.Errorf("proxy %s (%s), %s, has %d directories and %d processes, not %d", s.ref, s.who, brief(s.now), dirs, processes, want))
		}
	}
	if len(left.dirs)+len(left.processes) > 0 {
		errs = append(errs, fmt.Errorf("directories %v and processes %v belong to no object", left.dirs, left.processes))
	}
	if err := errors.Join(errs...); err != nil || len(unready) == 0 {
		return err
	}
	return fmt.Errorf("%w: %w", errUnready, errors.Join(unready...))
}
