package source

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"example.com/fairlead/activities/addon/folder"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/fetch"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/internal/text"
)

func (s *Sources) folder(ctx context.Context, a *addons.Addon, in inputs, known []kept.Render) (Rendered, error) {
	source := a.Spec.Source.Git
	repo, err := s.repository(source.Repo)
	if err != nil {
		return Rendered{}, err
	}
	commit, err := s.Git.Resolve(ctx, repo, source.Revision, in.credentials)
	if err != nil {
		return Rendered{}, err
	}
	files, err := s.Git.Files(ctx, repo, commit, in.credentials)
	if err != nil {
		return Rendered{}, err
	}
	found, err := folder.Render(ctx, files, source.Path, in.secrets...)
	if err != nil {
		return Rendered{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	set, err := s.finished(a, manifest.Set{Objects: found.Objects})
	if err != nil {
		return Rendered{}, fmt.Errorf("commit %s: %w", commit, err)
	}
	encoded, err := manifest.Encode(set)
	if err != nil {
		return Rendered{}, err
	}
	r := Rendered{Known: -1, Warning: ignored(found.Ignored), Render: kept.Render{
		Revision: commit, Version: commit, Digest: commit, Content: s.Hash(encoded), Set: set,
	}}
	for i, k := range known {
		if k.Content == r.Content {
			r.Known = i
			break
		}
	}
	return r, nil
}

// short is a repository without its host.
var short = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)

// repository is where repo is.
func (s *Sources) repository(repo string) (string, error) {
	if !short.MatchString(repo) {
		return repo, nil
	}
	if s.GitBase == "" {
		return "", fetch.Permanent("nobody has said which host %s is on: write source.git.repo as https://HOST/%s", repo, repo)
	}
	return strings.TrimRight(s.GitBase, "/") + "/" + repo, nil
}

// ignored tells what is beside what was read.
func ignored(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return text.Head("not read, as the folder has no kustomization: "+strings.Join(names, ", "), maxWarning, "…")
}
