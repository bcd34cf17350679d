package folder

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"example.com/fairlead/activities/addon/manifest"
)

// building is held by the one build that runs: the schema that kustomize merges by is a
// global of it.
var building = make(chan struct{}, 1)

// kustomize builds the kustomization that is the file in dir, with the options of kustomize build.
func kustomize(t *tree, dir, file string) (Result, error) {
	select {
	case building <- struct{}{}:
		defer func() { <-building }()
	case <-t.ctx.Done():
		return Result{}, t.ctx.Err()
	}
	disk := &disk{FileSystem: filesys.MakeFsInMemory(), tree: t}
	defer disk.forgetSchema()
	text, err := build(disk, path.Join(mount, dir))
	switch {
	case t.ctx.Err() != nil:
		return Result{}, t.ctx.Err()
	case disk.refusal != nil:
		return Result{}, disk.refusal
	case err != nil:
		return Result{}, fmt.Errorf("kustomize: %w", readable{err})
	}
	objects, err := manifest.Parse(path.Join(dir, file), text)
	if err != nil {
		return Result{}, fmt.Errorf("what kustomize makes of it: %w", err)
	}
	return Result{Objects: objects, Text: text}, nil
}

// build is a run of kustomize. Some files make it panic, such as an empty one in crds.
func build(disk *disk, dir string) (text []byte, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			text, err = nil, fmt.Errorf("it panicked: %v", panicked)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // the command has no other default
	var resources resmap.ResMap
	if resources, err = krusty.MakeKustomizer(options).Run(disk, dir); err != nil {
		return nil, err
	}
	return resources.AsYaml()
}

// readable is an error of kustomize with the paths of the repository.
type readable struct{ error }

func (r readable) Error() string { return strings.ReplaceAll(r.error.Error(), mount+"/", "") }

func (r readable) Unwrap() error { return r.error }
