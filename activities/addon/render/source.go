package render

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// Source is the files of a chart as they came. It is read only: each render parses it again,
// because Helm changes a chart that it renders. Several renders may share one.
type Source struct {
	files  []*loader.BufferedFile
	digest string
}

// Digest tells the content from any other: of an archive it is the SHA-256 of its bytes, as
// repositories give it.
func (s *Source) Digest() string { return s.digest }

// Archive is a packaged chart. It refuses what unpacks to more than Helm's limits allow,
// archives within the archive counted too.
func Archive(data []byte) (*Source, error) {
	if err := checkSize(data); err != nil {
		return nil, fmt.Errorf("unpack the chart: %w", err)
	}
	files, err := loader.LoadArchiveFiles(bytes.NewReader(data))
	if errors.Is(err, gzip.ErrHeader) {
		return nil, errors.New("unpack the chart: it is no gzipped archive: give a .tgz made by `helm package`")
	}
	if err != nil {
		return nil, fmt.Errorf("unpack the chart: %w", err)
	}
	return &Source{files: files, digest: ArchiveDigest(data)}, nil
}

// ArchiveDigest is the Source.Digest of a packaged chart.
func ArchiveDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Directory is an unpacked chart. Links in it are followed, so it must be one's own.
func Directory(dir string) (*Source, error) {
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load the chart in %s: %w", dir, err)
	}
	s := &Source{files: make([]*loader.BufferedFile, 0, len(c.Raw))}
	h := sha256.New()
	for _, f := range c.Raw { // in the order of their names
		s.files = append(s.files, &loader.BufferedFile{Name: f.Name, Data: f.Data})
		_, _ = fmt.Fprintf(h, "%q %d\n", f.Name, len(f.Data))
		_, _ = h.Write(f.Data)
	}
	if err := checkFiles(s.files); err != nil {
		return nil, fmt.Errorf("load the chart in %s: %w", dir, err)
	}
	s.digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return s, nil
}

// Open is the chart at path: a directory or an archive.
func Open(path string) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the chart: %w", err)
	}
	if info.IsDir() {
		return Directory(path)
	}
	data, err := os.ReadFile(path) // #nosec G304 -- the chart that was asked for
	if err != nil {
		return nil, fmt.Errorf("open the chart: %w", err)
	}
	s, err := Archive(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
