// Package samples makes what the example add-ons are made of, so that they can be tried
// without any outside host: a chart repository, a git repository, and the Addon objects that
// name them.
package samples

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ChartsPath is where a web server has the chart repository.
const ChartsPath = "/charts/"

// Samples are in a directory, and made of Files.
type Samples struct {
	// Dir gets charts, repository and the files of Addon objects.
	Dir string
	// Files has examples, as deploy.Examples.
	Files fs.FS
	// URL of the web server.
	URL string
}

// ChartsDir is what the web server has at ChartsPath.
func (s Samples) ChartsDir() string { return filepath.Join(s.Dir, "charts") }

// Write makes everything. A git repository that is there already stays as it is: somebody may
// have committed to it.
func (s Samples) Write() error {
	if err := s.writeCharts(); err != nil {
		return fmt.Errorf("make the chart repository of the examples: %w", err)
	}
	repository := filepath.Join(s.Dir, "repository")
	if err := s.writeRepository(repository); err != nil {
		return fmt.Errorf("make the git repository of the examples in %s: %w", repository, err)
	}
	for name, replace := range map[string][2]string{
		"addon-chart.yaml":  {"http://127.0.0.1:8085", s.URL},
		"addon-folder.yaml": {"/path/to/repository", repository},
	} {
		if err := s.writeAddon(name, replace[0], replace[1]); err != nil {
			return fmt.Errorf("make the example %s: %w", name, err)
		}
	}
	return nil
}

// writeAddon writes an example with what is right here.
func (s Samples) writeAddon(name, example, here string) error {
	text, err := fs.ReadFile(s.Files, "examples/"+name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Dir, name), bytes.ReplaceAll(text, []byte(example), []byte(here)), 0o600)
}
