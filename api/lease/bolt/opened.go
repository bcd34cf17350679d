package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lookEvery is how often readers look for the file.
const lookEvery = time.Second

// openedFile tells the file that is open from another one that came to be at its path, or from
// what is left of it: reading on where a mapped file has no more bytes ends the process.
type openedFile struct {
	path string
	info os.FileInfo
	// size it had when it was last looked at; it never shrinks.
	size   int64
	looked time.Time
	// lost is why it is not the one at its path any more.
	lost error
}

// open is os.OpenFile that remembers which file it is.
func (f *openedFile) open(name string, flag int, mode os.FileMode) (*os.File, error) {
	opened, err := os.OpenFile(filepath.Clean(name), flag, mode)
	if err == nil {
		f.info, err = opened.Stat()
	}
	if err == nil {
		f.size = f.info.Size()
	}
	return opened, err
}

// lookNowAndThen is look, at most once in lookEvery.
func (f *openedFile) lookNowAndThen() error {
	if time.Since(f.looked) < lookEvery {
		return f.lost
	}
	return f.look()
}

// look returns an error once the file is not the one at its path, or not all of it. What
// happens to it between a look and the write after it is not found in time.
func (f *openedFile) look() error {
	if f.lost != nil {
		return f.lost
	}
	f.looked = time.Now()
	there, err := os.Stat(f.path)
	switch {
	case err != nil:
		f.lost = fmt.Errorf("lease file %s was moved away or removed while it was open: stop fairlead api before that: %w", f.path, err)
	case !os.SameFile(f.info, there):
		f.lost = fmt.Errorf("lease file %s was replaced by another one while it was open: stop fairlead api before that", f.path)
	case there.Size() < f.size:
		f.lost = fmt.Errorf("lease file %s was cut short while it was open, from %d bytes to %d: stop fairlead api before that, and put a copy in its place", f.path, f.size, there.Size())
	default:
		f.size = there.Size()
	}
	return f.lost
}
