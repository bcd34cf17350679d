package render_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// entry is a file of an archive.
type entry struct {
	name string
	data []byte
}

// pack makes a gzipped archive.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	for _, e := range entries {
		if err := files.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entriesOf are the files of a chart of the test data.
func entriesOf(t testing.TB, chart string) []entry {
	t.Helper()
	var entries []entry
	dir := os.DirFS(chartDir(chart))
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if filepath.Ext(name) == ".secret" { // what .helmignore names is never packaged
			return err
		}
		entries = append(entries, entry{path.Join(chart, name), data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// packaged is the path of the chart as an archive.
func packaged(t *testing.T, chart string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), chart+".tgz")
	if err := os.WriteFile(file, pack(t, entriesOf(t, chart)...), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
