package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// tree is the files of a commit.
type tree struct {
	store storer.EncodedObjectStorer
	root  *object.Tree
	// maxFile is how large a file may be that is read, in bytes.
	maxFile int64
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
	if name == "." {
		return &entry{tree: t, name: ".", mode: filemode.Dir, hash: t.root.Hash}, nil
	}
	found, err := t.root.FindEntry(name)
	switch {
	case errors.Is(err, object.ErrEntryNotFound), errors.Is(err, object.ErrDirectoryNotFound):
		err = fs.ErrNotExist
	case err == nil:
		return &entry{tree: t, name: path.Base(name), mode: found.Mode, hash: found.Hash}, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: err}
}

// Open implements fs.FS. A link is opened as a file that has its target.
func (t *tree) Open(name string) (fs.File, error) {
	e, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		list, err := e.list()
		return &dir{e, list}, err
	}
	r, err := e.reader()
	return &file{e, r}, err
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
	return e.list()
}

// ReadFile implements fs.ReadFileFS.
func (t *tree) ReadFile(name string) ([]byte, error) {
	e, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	r, err := e.reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
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
	if err := e.isSmall(); err != nil {
		return nil, fmt.Errorf("read directory %s: %w", e.name, err)
	}
	t, err := object.GetTree(e.tree.store, e.hash)
	if err != nil {
		return nil, fmt.Errorf("read directory %s: %w", e.name, err)
	}
	list := make([]fs.DirEntry, len(t.Entries))
	for i, of := range t.Entries {
		if !fs.ValidPath(of.Name) || strings.Contains(of.Name, "/") || of.Name == "." {
			return nil, fmt.Errorf("directory %s of the commit has an entry named %q", e.name, of.Name)
		}
		list[i] = &entry{tree: e.tree, name: of.Name, mode: of.Mode, hash: of.Hash}
	}
	// Git sorts directories as if their names ended in a slash.
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func (e *entry) reader() (io.ReadCloser, error) {
	if e.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: e.name, Err: errors.New("is a directory")}
	}
	defer runtime.KeepAlive(e.tree)
	if err := e.isSmall(); err != nil {
		return nil, fmt.Errorf("read file %s: %w", e.name, err)
	}
	blob, err := object.GetBlob(e.tree.store, e.hash)
	if err != nil {
		return nil, fmt.Errorf("read file %s: %w", e.name, err)
	}
	return blob.Reader()
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
	io.ReadCloser
}

func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }

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
