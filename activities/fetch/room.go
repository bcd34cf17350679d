package fetch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// Unfinished begins the names of what is being written to a Room.
	Unfinished = "unfinished-"
	// abandoned is the age of such a thing when whoever wrote it is gone.
	abandoned = time.Hour
)

// Room is a directory whose entries, files or directories, are kept for as long as there
// is room for them.
type Room struct {
	Dir string
	// Max is how much is kept, in bytes.
	Max int64
	Now func() time.Time
	// Owns says which names are of the room. What others put beside them stays.
	Owns func(name string) bool
}

// Kept is an entry of a Room.
type Kept struct {
	Name string
	Size int64
	Used time.Time
}

// Use keeps an entry from being the next that goes.
func (r Room) Use(name string) error {
	now := r.Now()
	if err := os.Chtimes(filepath.Join(r.Dir, name), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Temporary("mark what is kept as used: %w", err)
	}
	return nil
}

// Make removes what was not used for longest until the rest fits, but nothing that is
// busy; and always what a process that has ended left unfinished.
func (r Room) Make(busy func(name string) bool) error {
	kept, err := r.List()
	if err != nil {
		return Temporary("make room: %w", err)
	}
	var total int64
	for _, k := range kept {
		total += k.Size
	}
	var failed error
	for _, k := range kept {
		if !r.mayGo(k, total > r.Max, busy) {
			continue
		}
		total -= k.Size
		if err := os.RemoveAll(filepath.Join(r.Dir, k.Name)); err != nil {
			failed = errors.Join(failed, Temporary("make room: %w", err))
		}
	}
	return failed
}

func (r Room) mayGo(k Kept, full bool, busy func(name string) bool) bool {
	if strings.HasPrefix(k.Name, Unfinished) {
		return r.Now().Sub(k.Used) > abandoned
	}
	return full && !busy(k.Name)
}

// List has the entries of the room, unfinished ones too; what was not used for longest
// comes first.
func (r Room) List() ([]Kept, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	var all []Kept
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), Unfinished) && !r.Owns(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process makes room too
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Kept{Name: entry.Name(), Size: sizeOf(filepath.Join(r.Dir, entry.Name())), Used: info.ModTime()})
	}
	slices.SortFunc(all, func(a, b Kept) int { return a.Used.Compare(b.Used) })
	return all, nil
}

// sizeOf a file or all files of a directory, as far as they can be seen.
func sizeOf(path string) (sum int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}
