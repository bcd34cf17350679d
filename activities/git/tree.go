package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// tree is the files of a commit. It is safe for concurrent use, which its store is not.
type tree struct {
	root plumbing.Hash
	// maxFile is how large a file may be that is read, in bytes.
	maxFile int64

	mu    sync.Mutex
	store storer.EncodedObjectStorer
	// lists are the directories that were looked into.
	lists map[plumbing.Hash][]fs.DirEntry
}

var _ interface {
	fs.ReadLinkFS
	fs.ReadDirFS
	fs.ReadFileFS
} = (*tree)(nil)

// find returns the entry at name, which has no links on its way.
func (t *tree) find(op, name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e := &entry{tree: t, name: ".", mode: filemode.Dir, hash: t.root}
	if name == "." {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !e.IsDir() {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		list, err := e.list()
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		i, found := slices.BinarySearchFunc(list, part, func(d fs.DirEntry, part string) int { return strings.Compare(d.Name(), part) })
		next, ok := (*entry)(nil), false
		if found {
			next, ok = list[i].(*entry)
		}
		if !ok {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		e = next
	}
	return e, nil
}

// Open implements fs.FS. A link is opened as a file that has its target.
func (t *tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		list, err := e.list()
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &dir{e, slices.Clone(list)}, nil
	}
	content, err := e.read()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{e, bytes.NewReader(content)}, nil
}

// Lstat implements fs.ReadLinkFS.
func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	e, err := t.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ReadLink implements fs.ReadLinkFS.
func (t *tree) ReadLink(name string) (string, error) {
	e, err := t.find("readlink", name)
	if err == nil && e.mode != filemode.Symlink {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	target, err := t.ReadFile(name)
	return string(target), err
}

// ReadDir implements fs.ReadDirFS.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	list, err := e.list()
	return slices.Clone(list), err
}

// ReadFile implements fs.ReadFileFS.
func (t *tree) ReadFile(name string) ([]byte, error) {
	e, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	return e.read()
}

// entry is a file, a directory or a link. It is its own information.
type entry struct {
	tree *tree
	name string
	mode filemode.FileMode
	hash plumbing.Hash
}

var (
	_ fs.DirEntry = (*entry)(nil)
	_ fs.FileInfo = (*entry)(nil)
)

func (e *entry) Name() string               { return e.name }
func (e *entry) IsDir() bool                { return e.mode == filemode.Dir || e.mode == filemode.Submodule }
func (e *entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e *entry) Info() (fs.FileInfo, error) { return e, nil }
func (e *entry) ModTime() time.Time         { return time.Time{} }
func (e *entry) Sys() any                   { return nil }

// Mode implements fs.FileInfo.
func (e *entry) Mode() fs.FileMode {
	switch e.mode {
	case filemode.Dir, filemode.Submodule:
		return fs.ModeDir | 0o555
	case filemode.Symlink:
		return fs.ModeSymlink | 0o444
	case filemode.Executable:
		return 0o555
	}
	return 0o444
}

// Size implements fs.FileInfo.
func (e *entry) Size() int64 {
	if e.IsDir() {
		return 0
	}
	e.tree.mu.Lock()
	defer e.tree.mu.Unlock()
	size, err := e.tree.store.EncodedObjectSize(e.hash)
	if err != nil {
		return 0 // reading it fails as well, and says why
	}
	return size
}

// list is what is in a directory. A submodule is an empty one, as git leaves it.
func (e *entry) list() ([]fs.DirEntry, error) {
	if e.mode == filemode.Submodule {
		return nil, nil
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: e.name, Err: errors.New("not a directory")}
	}
	defer runtime.KeepAlive(e.tree)
	e.tree.mu.Lock()
	defer e.tree.mu.Unlock()
	if list, ok := e.tree.lists[e.hash]; ok {
		return list, nil
	}
	if err := e.isSmall(); err != nil {
		return nil, fmt.Errorf("read directory %s: %w", e.name, err)
	}
	t, err := object.GetTree(e.tree.store, e.hash)
	if err != nil {
		return nil, fmt.Errorf("read directory %s: %w", e.name, err)
	}
	list, err := e.entries(t)
	if err != nil {
		return nil, err
	}
	e.tree.lists[e.hash] = list
	return list, nil
}

// entries are what t has, in the order of their names. Git would make no commit of what is
// refused here.
func (e *entry) entries(t *object.Tree) ([]fs.DirEntry, error) {
	list := make([]fs.DirEntry, len(t.Entries))
	for i, of := range t.Entries {
		if !fs.ValidPath(of.Name) || strings.Contains(of.Name, "/") || of.Name == "." || !known(of.Mode) {
			return nil, fmt.Errorf("directory %s of the commit has an entry %q of mode %s", e.name, of.Name, of.Mode)
		}
		list[i] = &entry{tree: e.tree, name: of.Name, mode: of.Mode, hash: of.Hash}
	}
	// Git sorts directories as if their names ended in a slash.
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for i := 1; i < len(list); i++ {
		if list[i-1].Name() == list[i].Name() {
			return nil, fmt.Errorf("directory %s of the commit has two entries named %q", e.name, list[i].Name())
		}
	}
	return list, nil
}

func known(m filemode.FileMode) bool {
	switch m {
	case filemode.Dir, filemode.Regular, filemode.Deprecated, filemode.Executable, filemode.Symlink, filemode.Submodule:
		return true
	}
	return false
}

func (e *entry) read() ([]byte, error) {
	if e.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: e.name, Err: errors.New("is a directory")}
	}
	defer runtime.KeepAlive(e.tree)
	e.tree.mu.Lock()
	defer e.tree.mu.Unlock()
	if err := e.isSmall(); err != nil {
		return nil, fmt.Errorf("read file %s: %w", e.name, err)
	}
	blob, err := object.GetBlob(e.tree.store, e.hash)
	if err != nil {
		return nil, fmt.Errorf("read file %s: %w", e.name, err)
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read file %s: %w", e.name, err)
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// isSmall asks for the size, which takes no reading of it all.
func (e *entry) isSmall() error {
	size, err := e.tree.store.EncodedObjectSize(e.hash)
	if err == nil && size > e.tree.maxFile {
		err = &TooLargeError{Limit: e.tree.maxFile}
	}
	return err
}

// file is one that is open.
type file struct {
	*entry
	*bytes.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *file) Close() error               { return nil }

// Size implements fs.FileInfo, as that of the entry.
func (f *file) Size() int64 { return f.entry.Size() }

// dir is a directory that is open.
type dir struct {
	*entry
	left []fs.DirEntry
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.entry, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

// ReadDir implements fs.ReadDirFile.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.left) {
		if n > 0 && len(d.left) == 0 {
			return nil, io.EOF
		}
		n = len(d.left)
	}
	list := d.left[:n:n]
	d.left = d.left[n:]
	return list, nil
}
