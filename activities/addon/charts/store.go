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
	"strings"
	"time"

	"example.com/fairlead/activities/fetch"
)

const sha256Prefix = "sha256:"

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
		return "", fetch.Temporary("make the chart cache: %w", err)
	}
	file, err := os.CreateTemp(s.dir, fetch.Unfinished+"*")
	if err != nil {
		return "", fetch.Temporary("write to the chart cache: %w", err)
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
		err = fetch.Temporary("write to the chart cache: %w", closed)
	}
	return digestOf(sum), err
}

// adopt gives a whole file its name.
func (s *store) adopt(path, digest, want string) error {
	if want != "" && digest != want {
		return fetch.Permanent("what came has the digest %s and not %s: the repository changed it, or somebody on the way did", digest, want)
	}
	if err := os.Rename(path, s.path(digest)); err != nil {
		return fetch.Temporary("write to the chart cache: %w", err)
	}
	return s.used(digest)
}

func digestOf(sum hash.Hash) string { return sha256Prefix + hex.EncodeToString(sum.Sum(nil)) }

func copyBounded(w io.Writer, r io.Reader, limit int64) error {
	err := fetch.Copy(w, r, limit)
	if err == nil || fetch.HasClass(err) {
		return err
	}
	return fetch.Temporary("read it into the chart cache: %w", err)
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
		return nil, fetch.Temporary("read the chart cache: %w", err)
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
		return fetch.Temporary("read the chart cache: %w", err)
	}
	if digestOf(sum) != digest {
		return errors.Join(errNotStored, os.Remove(file.Name()))
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fetch.Temporary("read the chart cache: %w", err)
	}
	return s.used(digest)
}

// has is for files that are opened later; only then they are verified.
func (s *store) has(digest string) bool {
	_, err := os.Stat(s.path(digest))
	return err == nil
}

func (s *store) used(digest string) error {
	return s.room().Use(strings.TrimPrefix(digest, sha256Prefix))
}

// evict never takes keep, which has just come.
func (s *store) evict(keep string) error {
	return s.room().Make(func(name string) bool { return sha256Prefix+name == keep })
}

func (s *store) room() fetch.Room {
	return fetch.Room{
		Dir: s.dir, Max: s.max, Now: s.now,
		Owns: func(name string) bool { return sha256Digest.MatchString(sha256Prefix + name) },
	}
}
