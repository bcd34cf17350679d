package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openCache makes the directory for charts and git repositories, and keeps other processes
// out of it: they would take away what this one reads.
func (p *parts) openCache() (dir string, err error) {
	if dir = p.addons.cacheDir; dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find a directory for charts and git repositories, or name one with --%s: %w", flagCacheDir, err)
		}
		dir = filepath.Join(user, "fairlead")
	}
	lock, err := lockCache(dir)
	if err != nil {
		return "", fmt.Errorf("use directory %s for charts and git repositories (--%s): %w", dir, flagCacheDir, err)
	}
	err = p.mgr.Add(anyReplica(func(ctx context.Context) error {
		<-ctx.Done()
		return lock.Close()
	}))
	if err != nil {
		return "", errors.Join(fmt.Errorf("add the lock of %s: %w", dir, err), lock.Close())
	}
	return dir, nil
}

// errCacheInUse is that of a directory that another process has.
var errCacheInUse = errors.New("another process uses it: give each its own")

// lockCache locks a directory for as long as the file is open. It ends with the process,
// whatever ends that.
func lockCache(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- in the directory that was given
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // #nosec G115 -- a descriptor is small
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errCacheInUse
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
