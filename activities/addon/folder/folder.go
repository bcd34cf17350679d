// Package folder renders a folder of a repository, as kustomize or as kubectl would, from the repository alone.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"example.com/fairlead/activities/addon/manifest"
)

// ErrEmpty is for a folder that renders to nothing, which must not be taken for an
// add-on whose objects are all to go.
var ErrEmpty = errors.New("it has no objects")

// Result is what a folder renders to.
type Result struct {
	Objects []manifest.Object
	// Text is what kustomize build prints. It is nil if the folder has no kustomization.
	Text []byte
	// Ignored are the folders below a folder without kustomization that have YAML files,
	// and JSON files in it. Neither is read.
	Ignored []string
}

// Render reads the folder at dir, slash-separated and relative to the root of the
// repository. With a kustomization it is built as kustomize build does; without one,
// each of its *.yaml and *.yml files is read, in the order of their names, and none of
// those in folders below.
//
// A repository that has links must implement fs.ReadLinkFS, as os.DirFS does: those that
// lead out of it are refused. It must not change meanwhile.
//
// Errors tell no value of a Secret in the files that were read, and none of secrets.
func Render(ctx context.Context, repository fs.FS, dir string, secrets ...[]byte) (Result, error) {
	t := &tree{ctx: ctx, files: repository, read: map[string][]byte{}}
	result, err := render(t, path.Clean(dir))
	if err != nil {
		return Result{}, shown(fmt.Errorf("render folder %s: %w", path.Clean(dir), err), t, secrets)
	}
	return result, nil
}

func render(t *tree, dir string) (Result, error) {
	at, info, err := t.resolve(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Result{}, errors.New("the repository has no such folder")
	case err != nil:
		return Result{}, err
	case !info.IsDir():
		return Result{}, errors.New("it is a file: name the folder that it is in")
	}
	names, err := t.list(at)
	if err != nil {
		return Result{}, err
	}
	var result Result
	if i := slices.IndexFunc(names, isKustomization); i >= 0 {
		result, err = kustomize(t, at, names[i])
	} else {
		result, err = plain(t, at, names)
	}
	if err != nil {
		return Result{}, err
	}
	if len(result.Objects) > 0 {
		return result, nil
	}
	if len(result.Ignored) > 0 {
		return Result{}, fmt.Errorf("%w of its own: %s would not be read", ErrEmpty, strings.Join(result.Ignored, ", "))
	}
	return Result{}, ErrEmpty
}

func isKustomization(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}
