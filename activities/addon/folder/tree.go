package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// What one render may read. Files count each time that they are read, as kustomize
// keeps what it makes of each.
const (
	maxReads = 5_000
	maxBytes = 16 << 20
	maxLinks = 40
)

// errOutside is for paths and links that lead out of the repository.
var errOutside = errors.New("it is outside of the repository")

// tree is a repository as one render reads it: within bounds, and with the links followed
// that stay inside.
type tree struct {
	ctx   context.Context // of the render: kustomize hands none on
	files fs.FS
	read  map[string][]byte
	reads int
	bytes int
}

// resolve finds the file or folder at name, which need not be clean, and the path that
// leads to it without links.
func (t *tree) resolve(name string) (string, fs.FileInfo, error) {
	if path.IsAbs(name) {
		return "", nil, fmt.Errorf("%s: %w", name, errOutside)
	}
	at, links := ".", 0
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		if !fs.ValidPath(next) {
			return "", nil, fmt.Errorf("%s: %w", name, errOutside)
		}
		info, err := fs.Lstat(t.files, next)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := fs.ReadLink(t.files, next)
		if err != nil {
			return "", nil, err
		}
		if path.IsAbs(target) {
			return "", nil, fmt.Errorf("%s: the link %s leads to %s: %w", name, next, target, errOutside)
		}
		if links++; links > maxLinks {
			return "", nil, fmt.Errorf("%s: it leads over more than %d links", name, maxLinks)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	info, err := fs.Lstat(t.files, at)
	return at, info, err
}

// file is the content of the file at a path.
func (t *tree) file(name string) ([]byte, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	at, info, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	if t.reads++; t.reads > maxReads {
		return nil, fmt.Errorf("%s is one file too many: a folder may read %d, split it", name, maxReads)
	}
	tooMuch := fmt.Errorf("%s is too much: a folder may read %d MiB, split it", name, maxBytes>>20)
	if info.Size() > int64(maxBytes-t.bytes) {
		return nil, tooMuch // without reading it
	}
	data, known := t.read[at]
	if !known {
		if data, err = t.load(at); err != nil {
			return nil, err
		}
		t.read[at] = data
	}
	if t.bytes += len(data); t.bytes > maxBytes {
		return nil, tooMuch
	}
	return data, nil
}

func (t *tree) load(name string) (data []byte, err error) {
	file, err := t.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

// list is the names in a folder, in order.
func (t *tree) list(dir string) ([]string, error) {
	entries, err := fs.ReadDir(t.files, dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, nil
}
