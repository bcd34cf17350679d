package folder

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// mount is where kustomize sees the repository. It is no root, so that a path that leads
// out of the repository is seen to do so.
const mount = "/repository"

// disk is the file system that kustomize reads: the repository, where each kustomization
// is inspected before kustomize sees it. What kustomize would write goes to the memory
// that it embeds, and away.
type disk struct {
	filesys.FileSystem

	tree *tree
	// refusal is why the build must not go on. kustomize takes errors of single files for
	// questions, and asks git or the network next.
	refusal error
	builds  int
	copies  int
	// schema is set if a kustomization has a schema of its own.
	schema bool
}

// maxBuilds bounds the kustomizations of a build, each counted as often as it is used:
// two overlays on two overlays on two … are as many as there are atoms.
const maxBuilds = 300

// inside is the path in the repository that kustomize means.
func (d *disk) inside(name string) (string, error) {
	if d.refusal != nil {
		return "", d.refusal
	}
	rel, ok := strings.CutPrefix(name+"/", mount+"/")
	if !ok {
		return "", d.refuse(fmt.Errorf("%s: %w", name, errOutside))
	}
	return path.Clean(rel), nil
}

func (d *disk) refuse(err error) error {
	if d.refusal == nil {
		d.refusal = err
	}
	return d.refusal
}

// CleanedAbs is the folder and file that a path leads to. kustomize asks it about each
// path before it reads it, a kustomization still by its own name.
func (d *disk) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	rel, err := d.inside(name)
	if err != nil {
		return "", "", err
	}
	at, info, err := d.tree.resolve(rel)
	if errors.Is(err, errOutside) {
		return "", "", d.refuse(err)
	}
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return filesys.ConfirmedDir(path.Join(mount, at)), "", nil
	}
	if isKustomization(path.Base(rel)) {
		if err := d.admit(rel); err != nil {
			return "", "", d.refuse(err)
		}
	}
	return filesys.ConfirmedDir(path.Join(mount, path.Dir(at))), path.Base(at), nil
}

// ReadFile reads a file.
func (d *disk) ReadFile(name string) ([]byte, error) {
	rel, err := d.inside(name)
	if err != nil {
		return nil, err
	}
	data, err := d.tree.file(rel)
	if err != nil {
		return nil, err
	}
	if err := d.measure(data); err != nil {
		return nil, d.refuse(fmt.Errorf("%s: %w", rel, err))
	}
	return data, nil
}

// IsDir says whether a path is a folder.
func (d *disk) IsDir(name string) bool {
	rel, err := d.inside(name)
	if err != nil {
		return false
	}
	_, info, err := d.tree.resolve(rel)
	return err == nil && info.IsDir()
}

// Exists says whether there is something at a path.
func (d *disk) Exists(name string) bool {
	rel, err := d.inside(name)
	if err != nil {
		return false
	}
	_, _, err = d.tree.resolve(rel)
	return err == nil
}

// forgetSchema keeps a schema of one repository from the next build, which kustomize does not.
func (d *disk) forgetSchema() {
	if d.schema {
		openapi.ResetOpenAPI()
	}
}
