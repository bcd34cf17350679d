package folder

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"example.com/fairlead/activities/addon/manifest"
)

// maxIgnored bounds the look at what is ignored: it is only told.
const maxIgnored = 1_000

// plain reads the YAML files of a folder. A name that starts with a dot or an underscore
// is like any other, as it is for kubectl.
func plain(t *tree, dir string, names []string) (Result, error) {
	var result Result
	for _, name := range names {
		file := path.Join(dir, name)
		_, info, err := t.resolve(file)
		if err != nil {
			return Result{}, err
		}
		switch {
		case info.IsDir():
			continue
		case path.Ext(name) == ".json":
			result.Ignored = append(result.Ignored, file)
		case isYAML(name):
			data, err := t.file(file)
			if err != nil {
				return Result{}, err
			}
			objects, err := manifest.Parse(file, data)
			if err != nil {
				return Result{}, err
			}
			result.Objects = append(result.Objects, objects...)
		}
	}
	below, err := ignoredBelow(t, dir)
	if err != nil {
		return Result{}, err
	}
	result.Ignored = append(result.Ignored, below...)
	return result, nil
}

func isYAML(name string) bool {
	return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"
}

// ignoredBelow are the folders below dir that have YAML files.
func ignoredBelow(t *tree, dir string) ([]string, error) {
	var ignored []string
	seen := 0
	err := fs.WalkDir(t.files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxIgnored {
			return fs.SkipAll
		}
		switch parent := path.Dir(name); {
		case entry.IsDir():
			if name != dir && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir // .git, .github: nobody takes these for manifests
			}
		case parent != dir && isYAML(name) && !slices.Contains(ignored, parent):
			ignored = append(ignored, parent)
		}
		return nil
	})
	return ignored, errors.Join(err, t.ctx.Err())
}
