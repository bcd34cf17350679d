package charts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	sha256Prefix = "sha256:"
	// unfinished begins the names of files that are being written.
	unfinished = "unfinished-"
	// abandoned is the age of such a file when whoever wrote it is gone.
	abandoned = time.Hour
)

var errNotStored = errors.New("not in the cache")

var sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// store keeps files by the digest of their content.
type store struct {
	dir string
	max int64
	now func() time.Time
}

func (s *store) path(digest string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, sha256Prefix))
}

// put keeps what r has, if it is at most limit bytes and has the digest want; empty
// wants none. It returns the digest.
func (s *store) put(r io.Reader, limit int64, want string) (digest string, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", temporary("make the chart cache: %w", err)
	}
	file, err := os.CreateTemp(s.dir, unfinished+"*")
	if err != nil {
		return "", temporary("write to the chart cache: %w", err)
	}
	if digest, err = fill(file, r, limit); err == nil {
		err = s.adopt(file.Name(), digest, want)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return digest, s.evict(digest)
}

// fill writes the file and closes it.
func fill(file *os.File, r io.Reader, limit int64) (digest string, err error) {
	sum := sha256.New()
	err = copyBounded(io.MultiWriter(file, sum), r, limit)
	if closed := file.Close(); err == nil && closed != nil {
		err = temporary("write to the chart cache: %w", closed)
	}
	return digestOf(sum), err
}

// adopt gives a whole file its name.
func (s *store) adopt(path, digest, want string) error {
	if want != "" && digest != want {
		return permanent("what came has the digest %s and not %s: the repository changed it, or somebody on the way did", digest, want)
	}
	if err := os.Rename(path, s.path(digest)); err != nil {
		return temporary("write to the chart cache: %w", err)
	}
	return s.used(digest)
}

func digestOf(sum hash.Hash) string { return sha256Prefix + hex.EncodeToString(sum.Sum(nil)) }

func copyBounded(w io.Writer, r io.Reader, limit int64) error {
	n, err := io.Copy(w, io.LimitReader(r, limit+1))
	switch {
	case n > limit:
		return permanent("it is larger than %d MiB", limit>>20)
	case errors.Is(err, ErrTemporary) || errors.Is(err, ErrPermanent):
		return err
	case err != nil:
		return temporary("read it into the chart cache: %w", err)
	}
	return nil
}

// open returns a file whose content was just compared with its digest, or
// errNotStored. A file that is open stays whole when it is evicted.
func (s *store) open(digest string) (*os.File, error) {
	if !sha256Digest.MatchString(digest) {
		return nil, errNotStored
	}
	file, err := os.Open(s.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotStored
	}
	if err != nil {
		return nil, temporary("read the chart cache: %w", err)
	}
	if err := s.verify(file, digest); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// verify removes a file that is damaged, and rewinds one that is not.
func (s *store) verify(file *os.File, digest string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return temporary("read the chart cache: %w", err)
	}
	if digestOf(sum) != digest {
		return errors.Join(errNotStored, os.Remove(file.Name()))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return temporary("read the chart cache: %w", err)
	}
	return s.used(digest)
}

// has is for files that are opened later; only then they are verified.
func (s *store) has(digest string) bool {
	_, err := os.Stat(s.path(digest))
	return err == nil
}

// used keeps a file from being the next that is evicted.
func (s *store) used(digest string) error {
	now := s.now()
	if err := os.Chtimes(s.path(digest), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return temporary("mark a file of the chart cache as used: %w", err)
	}
	return nil
}

// evict removes what was not used for longest until the rest fits, but never keep.
func (s *store) evict(keep string) error {
	files, err := s.list()
	if err != nil {
		return temporary("list the chart cache: %w", err)
	}
	var total int64
	for _, file := range files {
		total += file.Size()
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	var failed error
	for _, file := range files {
		path := filepath.Join(s.dir, file.Name())
		if path == s.path(keep) || !s.mayGo(file, total > s.max) {
			continue
		}
		total -= file.Size()
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, temporary("make room in the chart cache: %w", err))
		}
	}
	return failed
}

// mayGo is for files when there is no room, and for what a process that has ended left
// unfinished; what is being written stays.
func (s *store) mayGo(file fs.FileInfo, full bool) bool {
	if strings.HasPrefix(file.Name(), unfinished) {
		return s.now().Sub(file.ModTime()) > abandoned
	}
	return full
}

// list has the files of the store, and none that others put beside them.
func (s *store) list() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), unfinished) && !sha256Digest.MatchString(sha256Prefix+entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process evicts too
		}
		if err != nil {
			return nil, err
		}
		files = append(files, info)
	}
	return files, nil
}
