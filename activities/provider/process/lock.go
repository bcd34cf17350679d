package process

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"example.com/fairlead/activities/provider"
)

const (
	lockFile = ".lock"
	// lockPoll is how often a lock that somebody else has is tried again.
	lockPoll = 5 * time.Millisecond
)

// lockName lets one Create or Delete at a time work on an instance, in this and
// any other program. It is a lock on one byte of a shared file: it leaves nothing
// behind, and the kernel ends it with its holder.
func (p *Provider) lockName(ctx context.Context, name string) (unlock func(), err error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                  // a hash never fails
	return p.lockByte(ctx, 1+int64(h.Sum64()>>2)) // #nosec G115 -- 62 bits
}

// lockAddresses lets one instance at a time choose its address.
func (p *Provider) lockAddresses(ctx context.Context) (unlock func(), err error) {
	return p.lockByte(ctx, 0)
}

func (p *Provider) lockByte(ctx context.Context, at int64) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(p.stateDir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, diskError("open the lock of the state directory", err)
	}
	if err := waitLock(ctx, f, at); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the state directory %s: %w", p.stateDir, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // closing ends the lock, whatever it returns
}

func waitLock(ctx context.Context, f *os.File, at int64) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		if err := provider.Overdue(ctx); err != nil { // the lock may be free by now
			return fmt.Errorf("another call worked on it: %w: %w", err, provider.ErrTransient)
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
		// A lock of the open file, not of the process, keeps goroutines apart too.
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
