package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const lockName = "lock"

// owner is who runs the stack of a state directory.
type owner struct {
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
	Kubernetes string    `json:"kubernetes"`
	HTTP       string    `json:"http"`
}

// AlreadyRunningError says that another process runs the stack.
type AlreadyRunningError struct {
	// StateDir that both want.
	StateDir string
	owner    owner
}

// Error says who runs since when, and where it answers.
func (e *AlreadyRunningError) Error() string {
	if e.owner.PID == 0 {
		return fmt.Sprintf("already running on %s: it is just starting", e.StateDir)
	}
	text := fmt.Sprintf("already running on %s (pid %d since %s): Kubernetes API %s",
		e.StateDir, e.owner.PID, e.owner.Since.Format(time.DateTime), e.owner.Kubernetes)
	if e.owner.HTTP != "" {
		text += ", HTTP API http://" + e.owner.HTTP
	}
	return text
}

// lock makes this process the only one that uses a state directory, as long as
// the returned file is open. A directory with other files in it is refused, so
// that Clean never removes what is not the stack's.
func lock(dir string, me owner) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	path := filepath.Join(dir, lockName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("look into the state directory: %w", err)
		}
		if len(entries) > 0 {
			return nil, fmt.Errorf("%s holds other files (%s, …): choose an empty or a new state directory", dir, entries[0].Name())
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state directory: %w", err)
	}
	// The lock ends with the process, whatever ends it.
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		other := readOwner(f)
		return nil, errors.Join(&AlreadyRunningError{StateDir: dir, owner: other}, f.Close())
	}
	if err == nil {
		err = writeOwner(f, me)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the state directory: %w", err), f.Close())
	}
	return f, nil
}

// readOwner gives no pid when the owner is only just writing it.
func readOwner(f *os.File) owner {
	var o owner
	data, err := io.ReadAll(f)
	if err != nil || json.Unmarshal(data, &o) != nil {
		return owner{}
	}
	return o
}

func writeOwner(f *os.File, o owner) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode owner: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return fmt.Errorf("write owner: %w", err)
	}
	return nil
}
