package samples

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// index is the index.yaml of a chart repository.
type index struct {
	APIVersion string                 `json:"apiVersion"`
	Entries    map[string][]indexItem `json:"entries"`
}

type indexItem struct {
	metadata

	APIVersion string   `json:"apiVersion"`
	URLs       []string `json:"urls"`
	Digest     string   `json:"digest"`
}

// metadata is what of a Chart.yaml goes to the index.
type metadata struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	AppVersion  string `json:"appVersion,omitempty"`
	Description string `json:"description,omitempty"`
}

func (s Samples) writeCharts() error {
	if err := os.MkdirAll(s.ChartsDir(), 0o750); err != nil {
		return err
	}
	charts, err := fs.ReadDir(s.Files, "examples/charts")
	if err != nil {
		return err
	}
	all := index{APIVersion: "v1", Entries: map[string][]indexItem{}}
	for _, c := range charts {
		item, err := s.writeChart(c.Name())
		if err != nil {
			return fmt.Errorf("chart %s: %w", c.Name(), err)
		}
		all.Entries[item.Name] = []indexItem{item}
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.ChartsDir(), "index.yaml"), text, 0o600)
}

func (s Samples) writeChart(name string) (indexItem, error) {
	files, err := fs.Sub(s.Files, path.Join("examples/charts", name))
	if err != nil {
		return indexItem{}, err
	}
	text, err := fs.ReadFile(files, "Chart.yaml")
	if err != nil {
		return indexItem{}, err
	}
	item := indexItem{APIVersion: "v2"}
	if err := yaml.Unmarshal(text, &item.metadata); err != nil {
		return indexItem{}, err
	}
	data, err := archive(name, files)
	if err != nil {
		return indexItem{}, err
	}
	sum := sha256.Sum256(data)
	file := fmt.Sprintf("%s-%s.tgz", item.Name, item.Version)
	item.URLs, item.Digest = []string{file}, hex.EncodeToString(sum[:])
	return item, os.WriteFile(filepath.Join(s.ChartsDir(), file), data, 0o600)
}

// archive packs a chart to the same bytes each time: a release that changes is suspicious.
func archive(name string, files fs.FS) ([]byte, error) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	out := tar.NewWriter(zipped)
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		header := tar.Header{Name: path.Join(name, file), Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0)}
		if err := out.WriteHeader(&header); err != nil {
			return err
		}
		_, err = out.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
