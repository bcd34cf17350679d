package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/life"
)

// Delete ends the process and removes the instance; it is gone when Delete
// returns. An instance of another cluster is none of ours and stays.
func (p *Provider) Delete(ctx context.Context, id provider.ID) error {
	return p.remove(ctx, id, func(o provider.Owner) bool { return o.ClusterID == p.clusterID })
}

// DeleteAll ends every instance in the state directory, of whatever cluster, the
// abandoned ones too: for when the directory itself is to be removed.
func (p *Provider) DeleteAll(ctx context.Context) error {
	if _, err := os.Stat(p.stateDir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	stateID, err := readMarker(p.stateDir)
	if errors.Is(err, os.ErrNotExist) { // of whatever identity: all that is here goes
		if err = p.create(); err == nil {
			stateID, err = readMarker(p.stateDir)
		}
	}
	if err != nil {
		return err
	}
	names, err := p.names()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, p.remove(ctx, provider.ID{Place: p.stateDir + idMark + stateID, Name: name}, func(provider.Owner) bool { return true }))
	}
	disowned, err := filepath.Glob(filepath.Join(p.stateDir, disownedPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range disowned {
		release, err := endAll(ctx, dir)
		if err == nil {
			release()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// seize is the provider at the place of id, the directory of the instance and the
// right to change it until unlock is called.
func (p *Provider) seize(ctx context.Context, id provider.ID) (there *Provider, dir string, unlock func(), err error) {
	if there, err = p.at(id.Place); err != nil {
		return nil, "", nil, err
	}
	if dir, err = there.dir(id); err != nil {
		return nil, "", nil, err
	}
	unlock, err = there.lockName(ctx, id.Name)
	return there, dir, unlock, err
}

func (p *Provider) remove(ctx context.Context, id provider.ID, ours func(provider.Owner) bool) error {
	p, dir, unlock, err := p.seize(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := readRecord(dir)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return p.gone(nil)
	case errors.Is(err, errDamaged): // the lock files tell all that is needed
	case err != nil:
		return err
	case !ours(r.Owner):
		return nil
	}
	// Seized until the directory is gone: a process that was started a moment ago and
	// has not locked its file yet must not begin to live now.
	release, err := endAll(ctx, dir)
	if err != nil {
		return fmt.Errorf("end the process of instance %s: %w", id.Name, err)
	}
	defer release()
	return p.erase(dir)
}

// endAll ends the process of the instance in dir, as end does. There is one lock
// file, unless somebody tampered with the directory.
func endAll(ctx context.Context, dir string) (release func(), err error) {
	paths, err := filepath.Glob(filepath.Join(dir, lifePrefix+"*"))
	if err != nil {
		return nil, err
	}
	var releases []func() error
	release = func() {
		for _, r := range releases {
			_ = r() // closing a file that was only locked
		}
	}
	for _, path := range paths {
		r, err := end(ctx, path)
		if err != nil {
			release()
			return nil, err
		}
		releases = append(releases, r)
	}
	return release, nil
}

// eraseDead removes an instance that could not be started.
func (p *Provider) eraseDead(dir, lifePath string) error {
	release, err := life.Seize(lifePath)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the file is gone
	return p.erase(dir)
}

// end makes sure that no process lives at path, and none can begin to until
// release is called.
func end(ctx context.Context, path string) (release func() error, err error) {
	soft, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	release, err = signalUntilGone(soft, path, syscall.SIGTERM)
	if err == nil || ctx.Err() != nil || !errors.Is(err, life.ErrAlive) {
		return release, err
	}
	return signalUntilGone(ctx, path, syscall.SIGKILL)
}

// signalUntilGone signals each process that it finds at path once, and returns
// when it could seize the file.
func signalUntilGone(ctx context.Context, path string, sig os.Signal) (release func() error, err error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	signalled := 0
	for {
		release, err = life.Seize(path)
		if !errors.Is(err, life.ErrAlive) {
			return release, err
		}
		if signalled, err = signalHolder(path, sig, signalled); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("process %d goes on after %s: %w: %w", signalled, sig, life.ErrAlive, ctx.Err())
		case <-tick.C:
		}
	}
}

// signalHolder signals the process that lives at path, unless it was the last one
// that got the signal, and returns its pid.
func signalHolder(path string, sig os.Signal, signalled int) (int, error) {
	s, err := life.Look(path)
	if err != nil || s.PID == 0 || s.PID == signalled {
		return signalled, err
	}
	process, err := os.FindProcess(s.PID)
	if err != nil {
		return signalled, fmt.Errorf("find process %d: %w", s.PID, err)
	}
	defer func() { _ = process.Release() }() // it is no child of ours to wait for
	// The handle names one process for good; that it still holds the lock shows that
	// the pid was not recycled before the handle was made.
	if again, err := life.Look(path); err != nil || again.PID != s.PID {
		return signalled, err
	}
	if err := process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return signalled, fmt.Errorf("signal process %d: %w", s.PID, err)
	}
	return s.PID, nil
}
