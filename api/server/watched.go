package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// recheckAfter is how often a file is looked at.
const recheckAfter = time.Second

// watched is what a file holds; it is read again when the file changes. One that became
// invalid or is gone keeps what it held last: a slip must change nothing.
type watched[T any] struct {
	// kind names the file in messages, such as "tokens file".
	kind, path string
	parse      func([]byte) (T, error)
	log        *slog.Logger
	clock      clock.PassiveClock

	mu      sync.Mutex
	value   T
	seen    fileVersion
	checked time.Time
}

// fileVersion tells whether a file has changed.
type fileVersion struct {
	modified time.Time
	size     int64
	failed   bool
}

// open reads the file for the first time. One that is missing is an error, lest a typing
// mistake go unnoticed.
func (w *watched[T]) open() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.load()
}

// current looks at the file at most once a second. Changed says whether it was read
// again.
func (w *watched[T]) current() (value T, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clock.Since(w.checked) < recheckAfter {
		return w.value, false
	}
	w.checked = w.clock.Now()
	if w.version() == w.seen {
		return w.value, false
	}
	if err := w.load(); err != nil {
		w.log.Error("the "+w.kind+" cannot be used, the last good one stays in force", "error", err)
		return w.value, false
	}
	w.log.Info(w.kind+" read again", "file", w.path)
	return w.value, true
}

func (w *watched[T]) version() fileVersion {
	info, err := os.Stat(w.path)
	if err != nil {
		return fileVersion{failed: true}
	}
	return fileVersion{modified: info.ModTime(), size: info.Size()}
}

func (w *watched[T]) load() error {
	w.seen = w.version() // before reading: a change in between is seen next time
	w.checked = w.clock.Now()
	data, err := os.ReadFile(filepath.Clean(w.path))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s does not exist: create it, or give none", w.kind, w.path)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", w.kind, err)
	}
	value, err := w.parse(data)
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.kind, w.path, err)
	}
	w.value = value
	return nil
}
