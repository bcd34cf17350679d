package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/folder"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/git"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func (r *rendering) definedFolder(ctx context.Context, source *addons.GitSource, warn warner) (text string, err error) {
	kept, err := os.MkdirTemp("", "fairlead-git-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(kept)) }()
	repository, err := r.repository(ctx, source, &git.Reader{Dir: kept}, warn)
	if err != nil {
		return "", err
	}
	result, err := folder.Render(ctx, repository, source.Path)
	if err != nil {
		return "", err
	}
	if len(result.Ignored) > 0 {
		warn("not read, as an add-on does not: %s", strings.Join(result.Ignored, ", "))
	}
	if result.Text != nil {
		return string(result.Text), nil
	}
	return textOf(result.Objects)
}

// repository is the files that have the folder: those of a working copy as they are, or
// those of a commit.
func (r *rendering) repository(ctx context.Context, source *addons.GitSource, reader *git.Reader, warn warner) (fs.FS, error) {
	dir := r.repo
	switch {
	case dir != "" && !isWorkingCopy(dir):
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		files, err := committed(ctx, reader, path, source.Revision)
		if err != nil {
			return nil, fmt.Errorf("--%s must be the top of a working copy, or a bare repository: %w", flagRepo, err)
		}
		return files, nil
	case dir == "" && source.Repo == "":
		var err error
		if dir, err = workingCopyOf(r.file); err != nil {
			return nil, err
		}
	case dir == "":
		return r.elsewhere(ctx, source, reader, warn)
	}
	if source.Revision != "" {
		warn("git.revision %s is not looked at: the folder is read as it is in %s", source.Revision, dir)
	}
	return os.DirFS(dir), nil
}

// elsewhere is the repository that the definition names.
func (r *rendering) elsewhere(ctx context.Context, source *addons.GitSource, reader *git.Reader, warn warner) (fs.FS, error) {
	if !filepath.IsAbs(source.Repo) && !strings.Contains(source.Repo, "://") {
		return nil, fmt.Errorf("git.repo %s is not fetched here: give --%s, the directory of a working copy of it", source.Repo, flagRepo)
	}
	withoutCredentials("git", source.CredentialsSecretRef, warn)
	files, err := committed(ctx, reader, source.Repo, source.Revision)
	if err != nil {
		return nil, fmt.Errorf("git.repo cannot be read (if you have a working copy of it, give --%s): %w", flagRepo, err)
	}
	return files, nil
}

func committed(ctx context.Context, reader *git.Reader, repo, revision string) (fs.FS, error) {
	commit, err := reader.Resolve(ctx, repo, revision, nil)
	if err != nil {
		return nil, err
	}
	return reader.Files(ctx, repo, commit, nil)
}

// isWorkingCopy says whether dir is the top of one. Of a second one, .git is a file.
func isWorkingCopy(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// workingCopyOf is the top of the working copy that has a file.
func workingCopyOf(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if isWorkingCopy(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("it has no git.repo and is in no git repository: give --%s, the directory of a working copy", flagRepo)
		}
	}
}

// textOf is objects as documents, each with its file, as Helm has them.
func textOf(objects []manifest.Object) (string, error) {
	var b strings.Builder
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return "", fmt.Errorf("print %s of %s: %w", o.ID(), o.Source, err)
		}
		_, _ = fmt.Fprintf(&b, "---\n# Source: %s\n%s", o.Source, text)
	}
	return b.String(), nil
}
