package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
)

const (
	// maxArchive is how large a packaged chart may be.
	maxArchive = 64 << 20
	// maxFiles is how many files a chart may have, with its subcharts.
	maxFiles = 20_000
	// maxNested is how deep archives may be in archives. Helm has no limit, and there are
	// archives that contain themselves.
	maxNested = 8
)

// ErrTooLarge is of a chart that unpacks to more than a chart may be.
var ErrTooLarge = errors.New("the chart is too large")

// budget is what a chart may still unpack to.
type budget struct {
	bytes int64
	files int
}

func newBudget() *budget { return &budget{bytes: loader.MaxDecompressedChartSize, files: maxFiles} }

func (b *budget) spend(size int64) error {
	b.bytes -= size
	b.files--
	if b.bytes < 0 {
		return fmt.Errorf("%w: it unpacks to more than %d bytes", ErrTooLarge, loader.MaxDecompressedChartSize)
	}
	if b.files < 0 {
		return fmt.Errorf("%w: it has more than %d files", ErrTooLarge, maxFiles)
	}
	return nil
}

// checkSize walks over the archive, and the archives in it, before anything is kept.
func checkSize(data []byte) error {
	if len(data) > maxArchive {
		return fmt.Errorf("%w: the archive has more than %d bytes", ErrTooLarge, maxArchive)
	}
	return newBudget().walk(data, 0)
}

// checkFiles is checkSize for files that are there already.
func checkFiles(files []*loader.BufferedFile) error {
	b := newBudget()
	for _, f := range files {
		if err := b.spend(int64(len(f.Data))); err != nil {
			return err
		}
		if isSubchart(f.Name) {
			if err := b.walk(f.Data, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk spends what the archive holds. What is wrong with the archive otherwise is for
// Helm's loader to say, which reads no further than this.
func (b *budget) walk(data []byte, depth int) error {
	if depth > maxNested {
		return fmt.Errorf("%w: archives are more than %d deep in archives", ErrTooLarge, maxNested)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	// Headers count too: an archive may be made of nothing else.
	stream := &io.LimitedReader{R: unzipped, N: 2 * loader.MaxDecompressedChartSize}
	for files := tar.NewReader(stream); ; {
		header, err := files.Next()
		if stream.N <= 0 {
			return fmt.Errorf("%w: it unpacks to more than %d bytes", ErrTooLarge, loader.MaxDecompressedChartSize)
		}
		if err != nil {
			return nil
		}
		if err := b.enter(files, header, depth); err != nil {
			return err
		}
	}
}

func (b *budget) enter(files io.Reader, header *tar.Header, depth int) error {
	if err := b.spend(header.Size); err != nil {
		return err
	}
	if !isSubchart(strings.ReplaceAll(header.Name, `\`, "/")) || header.Size > loader.MaxDecompressedFileSize {
		return nil
	}
	nested, err := io.ReadAll(io.LimitReader(files, header.Size))
	if err != nil {
		return nil // as in walk
	}
	return b.walk(nested, depth+1)
}

// isSubchart says whether Helm unpacks the file.
func isSubchart(name string) bool {
	return path.Ext(name) == ".tgz" && path.Base(path.Dir(path.Clean(name))) == "charts"
}
