package git

import (
	"context"
	"crypto"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/hash"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"example.com/fairlead/activities/fetch"
)

const (
	// packs is where a repository has them.
	packs = "objects/pack"
	// largeObject is the size from which on files are not read into memory, in bytes.
	largeObject = 1 << 20
	// maxObjects of a pack bounds what is known of them, which is in memory.
	maxObjects = 1 << 20
	// maxInflation bounds how many times MaxPack all objects of a pack have together.
	maxInflation = 64
)

func store(dir string) *filesystem.Storage {
	return filesystem.NewStorageWithOptions(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(cache.MiByte),
		filesystem.Options{LargeObjectThreshold: largeObject})
}

// localStore opens the repository at a path, whose .git may be elsewhere.
func localStore(path string) (*filesystem.Storage, error) {
	repo, err := openLocal(path)
	if err != nil {
		return nil, err
	}
	opened, ok := repo.Storer.(*filesystem.Storage)
	if !ok {
		return nil, fetch.Permanent("it is not in a directory")
	}
	return filesystem.NewStorageWithOptions(opened.Filesystem(), cache.NewObjectLRU(cache.MiByte),
		filesystem.Options{LargeObjectThreshold: largeObject}), nil
}

// keep writes a pack and its index into an empty directory.
func (r *Reader) keep(ctx context.Context, dir string, from io.Reader) (err error) {
	dir = filepath.Join(dir, packs)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fetch.Temporary("make a repository: %w", err)
	}
	pack, err := os.CreateTemp(dir, fetch.Unfinished)
	if err != nil {
		return fetch.Temporary("write a pack: %w", err)
	}
	defer func() { err = errors.Join(err, pack.Close()) }()
	err = fetch.Copy(pack, from, r.MaxPack)
	if large := new(TooLargeError); errors.As(err, &large) {
		return fmt.Errorf("its pack: %w: keep what is applied in a repository of its own", err)
	}
	if err != nil {
		return fmt.Errorf("receive its pack: %w", err)
	}
	if err := checkSum(pack.Name()); err != nil {
		return err
	}
	if err := r.measure(ctx, pack); err != nil {
		return fmt.Errorf("its pack: %w", err)
	}
	name, err := index(dir, pack)
	if err != nil {
		return err
	}
	return os.Rename(pack.Name(), name)
}

// checkSum compares a pack or an index with the checksum at its end.
func checkSum(path string) error {
	file, err := os.Open(path) // #nosec G304 -- it is in Dir
	if err != nil {
		return fetch.Temporary("read a pack: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return fetch.Temporary("read a pack: %w", err)
	}
	sum, said := hash.New(crypto.SHA1), make([]byte, hash.Size)
	if _, err := io.CopyN(sum, file, max(0, info.Size()-hash.Size)); err != nil {
		return fetch.Temporary("read a pack: %w", err)
	}
	if _, err := io.ReadFull(file, said); err != nil || string(said) != string(sum.Sum(nil)) {
		return fetch.Temporary("the pack is not whole, or damaged")
	}
	return nil
}

// measure looks at what the objects of a pack say of their sizes, before anybody makes
// them: a few bytes can stand for gigabytes.
func (r *Reader) measure(ctx context.Context, pack io.ReadSeeker) error {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return fetch.Temporary("read it: %w", err)
	}
	scanner := packfile.NewScanner(pack)
	_, count, err := scanner.Header()
	if err != nil {
		return err
	}
	if count > maxObjects {
		return fetch.Permanent("it has more than %d objects: keep what is applied in a repository of its own", maxObjects)
	}
	left := r.MaxPack * maxInflation
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, err := r.sizeOfNext(scanner)
		if err != nil {
			return err
		}
		if left -= size; left < 0 {
			return fmt.Errorf("all that is in it: %w", &TooLargeError{Limit: r.MaxPack * maxInflation})
		}
	}
	return nil
}

func (r *Reader) sizeOfNext(scanner *packfile.Scanner) (int64, error) {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return 0, err
	}
	tooLarge := fmt.Errorf("a file of it: %w", &TooLargeError{Limit: r.MaxFile})
	if header.Length > r.MaxFile {
		return 0, tooLarge
	}
	var begin beginning
	if _, _, err := scanner.NextObject(&begin); err != nil {
		return 0, err
	}
	if !header.Type.IsDelta() {
		return header.Length, nil
	}
	// A delta begins with the size of what it is applied to, and of what that makes.
	_, n := binary.Uvarint(begin)
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	size, n := binary.Uvarint(begin[n:])
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	if size > uint64(r.MaxFile) { // #nosec G115 -- it is positive
		return 0, tooLarge
	}
	return int64(size), nil // #nosec G115 -- it is small
}

// beginning keeps the first bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	n := min(len(p), max(0, 2*binary.MaxVarintLen64-len(*b)))
	*b = append(*b, p[:n]...)
	return len(p), nil
}

// index writes the index of a pack, and returns the name that the pack is to have.
func index(dir string, pack io.ReadSeeker) (name string, err error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	var entries idxfile.Writer
	parser, err := packfile.NewParser(packfile.NewScanner(pack), &entries)
	if err != nil {
		return "", err
	}
	sum, err := parser.Parse()
	if err != nil {
		return "", fmt.Errorf("read its pack: %w", err)
	}
	list, err := entries.Index()
	if err != nil {
		return "", err
	}
	base := filepath.Join(dir, "pack-"+sum.String())
	file, err := os.OpenFile(base+".idx", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- it is in Dir
	if err != nil {
		return "", err
	}
	_, err = idxfile.NewEncoder(file).Encode(list)
	return base + ".pack", errors.Join(err, file.Close())
}
