package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
)

// admit is an error if a kustomization has what is not built here. It is asked before
// kustomize reads the kustomization, as kustomize would fetch and run what it names.
func (d *disk) admit(name string) error {
	if d.builds++; d.builds > maxBuilds {
		return fmt.Errorf("%s: the build has more than %d kustomizations", name, maxBuilds)
	}
	data, err := d.tree.file(name)
	if err != nil {
		return err
	}
	documents, err := manifest.Values(name, data)
	if err != nil {
		return err
	}
	if len(documents) > 1 {
		return fmt.Errorf("%s: it has %d documents, kustomize would read the first only", name, len(documents))
	}
	in := inspector{disk: d, dir: path.Dir(name)}
	for _, document := range documents {
		if err := in.kustomization(document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// inspector looks at a kustomization, whose paths start from dir.
type inspector struct {
	disk *disk
	dir  string
}

// charts are the fields that have kustomize run Helm. Names of fields are compared as
// kustomize does, which knows no case.
var charts = []string{"helmCharts", "helmChartInflationGenerator"}

var errChart = errors.New("charts are not inflated: make the chart an add-on of its own")

// plugins are the fields that name generators and transformers.
var plugins = []string{"generators", "transformers", "validators"}

func (in inspector) kustomization(value any) error {
	fields, _ := value.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		content := fields[field]
		if isField(field, charts) {
			return fmt.Errorf("%s: %w", field, errChart)
		}
		if isField(field, plugins) {
			for _, entry := range texts(content) {
				if err := in.pluginEntry(entry); err != nil {
					return fmt.Errorf("%s: %w", field, err)
				}
			}
		}
		in.disk.schema = in.disk.schema || strings.EqualFold(field, "openapi")
	}
	return in.paths(value)
}

// pathFields name what kustomize reads, in kustomizations and in configurations of plugins.
var pathFields = []string{
	"resources", "bases", "components", "generators", "transformers", "validators", "crds", "configurations",
	"path", "paths", "patches", "patchesStrategicMerge", "files", "env", "envs", "targetFilePath",
}

// dataFields hold texts that name nothing to read, whatever their own fields are called.
var dataFields = []string{"annotations", "commonAnnotations", "labels", "commonLabels", "metadata", "literals"}

// paths is an error about the first path in value that leads to another machine, or text
// in it whose aliases stand for too much.
func (in inspector) paths(value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if err := in.field(name, value[name]); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range value {
			if err := in.paths(item); err != nil {
				return err
			}
		}
	case string:
		return in.disk.measure([]byte(value))
	}
	return nil
}

// field is paths for a field.
func (in inspector) field(name string, content any) error {
	if slices.Contains(dataFields, name) {
		return nil
	}
	if isField(name, pathFields) {
		for _, text := range texts(content) {
			if _, file, keyed := strings.Cut(text, "="); keyed && strings.EqualFold(name, "files") {
				text = file
			}
			if err := in.local(text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return in.paths(content)
}

// remote is how a path starts that kustomize takes for a git repository.
var remote = regexp.MustCompile(`(?i)^(git::|ssh://|https?://|file://|github\.com[/:]|[a-z][a-z0-9-]*@)`)

// local is an error if kustomize would look for a path elsewhere than in the repository.
// A text of several lines is a patch or configuration in place of a path.
func (in inspector) local(name string) error {
	if remote.MatchString(name) || isURL(name) {
		return fmt.Errorf("%s is not in the repository: nothing is fetched for a build, put a copy into it", name)
	}
	if !strings.Contains(name, "\n") && !fs.ValidPath(path.Join(in.dir, name)) {
		return fmt.Errorf("%s: %w", name, errOutside)
	}
	return nil
}

// isURL is the question that kustomize asks before it reads a file.
func isURL(name string) bool {
	u, err := url.Parse(name)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

func isField(name string, fields []string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(name, field) })
}

// texts are the strings in a field that has one or a list of them.
func texts(value any) []string {
	var all []string
	switch value := value.(type) {
	case string:
		all = append(all, value)
	case []any:
		for _, item := range value {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}
