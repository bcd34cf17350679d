package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	fileMode = 0o600
	// mapped is how much of the file is mapped at once: mapping more waits for readers.
	mapped = 256 << 20
	// smallest is how large bbolt makes a file, at least.
	smallest = 4 * 4096
	// ballast is what must find room before anything is loaded.
	ballast = 64 << 10
)

// openFile locks the file and opens it to be written.
func openFile(path string) (*bbolt.DB, error) { return openFileBy(path, os.OpenFile) }

func openFileBy(path string, open func(string, int, os.FileMode) (*os.File, error)) (*bbolt.DB, error) {
	return bbolt.Open(path, fileMode, &bbolt.Options{
		OpenFile:        open,
		Timeout:         lockRound,
		FreelistType:    bbolt.FreelistMapType,
		NoFreelistSync:  true, // it would be written with each commit; opening finds it again
		InitialMmapSize: mapped,
	})
}

// createIfAbsent makes the file elsewhere and links it, so that a crash or a full disk leaves
// no half of one, and of two processes one wins.
func createIfAbsent(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return explain(path, err)
	}
	dir := filepath.Dir(path)
	draft, err := os.MkdirTemp(dir, ".fairlead-leases-*")
	if err != nil {
		return explain(path, err)
	}
	db, err := openFile(filepath.Join(draft, "draft"))
	if err == nil {
		err = errors.Join(db.Update(initialize), db.Close())
	}
	if err == nil {
		err = os.Link(filepath.Join(draft, "draft"), path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return explain(path, errors.Join(err, os.RemoveAll(draft), syncDirectory(dir)))
}

// syncDirectory makes new names in dir survive a power failure.
func syncDirectory(dir string) error {
	f, err := os.Open(dir) // #nosec G304 -- where the operator wants the file
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// inspect reads the whole file before anything in it is changed. Opened for writing, bbolt
// walks through it in a goroutine of its own, where damage ends the process; what is found
// here before is an error.
func inspect(path string) (err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() < smallest {
		return explain(path, errors.Join(err, berrors.ErrInvalid))
	}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true, Timeout: lockRound, NoStatistics: true})
	if err != nil {
		return explain(path, err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errDamaged, r)
		}
		err = errors.Join(explain(path, err), db.Close())
	}()
	return db.View(func(tx *bbolt.Tx) error {
		if info, err := os.Stat(path); err != nil || info.Size() < tx.Size() {
			return errors.Join(errDamaged, errCut, err)
		}
		if _, err := generation(tx); err != nil {
			return err
		}
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if string(name) == string(metaBucket) {
				return nil
			}
			return b.ForEach(func(key, value []byte) error {
				_, err := unseal(value)
				return damaged(name, key, err)
			})
		})
	})
}

// tryDisk fails when the file cannot be written.
func tryDisk(db *bbolt.DB) error {
	err := db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(ballastKey, make([]byte, ballast))
	})
	if err != nil {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(ballastKey) })
}

// room is how much may be written, in the free pages of the file and beside it.
func room(db *bbolt.DB) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(db.Path(), &disk); err != nil {
		return 0, fmt.Errorf("look for room: %w", err)
	}
	free := int64(db.Stats().FreePageN) * int64(db.Info().PageSize)
	return free + int64(disk.Bavail)*int64(disk.Bsize), nil // #nosec G115 -- of one disk
}
