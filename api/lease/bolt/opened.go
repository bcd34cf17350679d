package bolt

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lookEvery is how often readers look for the file.
const lookEvery = time.Second

// openedFile tells the file that is open from another one that came to be at its path.
type openedFile struct {
	path   string
	info   os.FileInfo
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
	return opened, err
}

// lookNowAndThen is look, at most once in lookEvery.
func (f *openedFile) lookNowAndThen() error {
	if time.Since(f.looked) < lookEvery {
		return f.lost
	}
	return f.look()
}

// look returns an error once the file is not the one at its path.
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
	}
	return f.lost
}
