package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// What may be wrong with a file.
var (
	errFormat  = errors.New("it is not of the format " + format)
	errDamaged = errors.New("it is damaged")
	errCut     = errors.New("cut short")
	// errNoRoom is a disk that is full but for what commits need.
	errNoRoom = fmt.Errorf("little is left: %w", syscall.ENOSPC)
)

// openElsewhere is the error of a file that another process has open.
type openElsewhere struct {
	path string
	err  error
}

func (e *openElsewhere) Error() string { return "lease file " + e.path + ": " + e.Public() }

func (e *openElsewhere) Unwrap() error { return e.err }

// Public has no path in it, which is nobody's business but the operator's.
func (e *openElsewhere) Public() string {
	return "another fairlead api has the lease file open: stop that one, or name another file with --leases"
}

// damaged names the value that err is about.
func damaged(bucket, key []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: value %s/%x: %w", errDamaged, bucket, key, err)
}

// noRoom says whether err is that of a full disk.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// explain adds the file and the remedy to what is wrong with it.
func explain(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, berrors.ErrTimeout):
		return &openElsewhere{path, err}
	case noRoom(err):
		return fmt.Errorf("lease file %s: make room on its disk: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("lease file %s: make its directory, or name another file with --leases: %w", path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("lease file %s: let this user read and write it and its directory, or name another file with --leases: %w", path, err)
	case errors.Is(err, errFormat), errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch):
		return fmt.Errorf("%s is no lease file of this fairlead: move it away, or name another file with --leases: %w", path, err)
	case errors.Is(err, errDamaged), errors.Is(err, berrors.ErrChecksum):
		return fmt.Errorf("lease file %s: put a copy in its place, or move it away to begin without leases: %w", path, err)
	default:
		return fmt.Errorf("lease file %s: %w", path, err)
	}
}
