package samples

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// writeRepository makes a repository with one commit, on main.
func (s Samples) writeRepository(dir string) error {
	main := plumbing.NewBranchReferenceName("main")
	repository, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: main}})
	if errors.Is(err, git.ErrRepositoryAlreadyExists) {
		return nil
	}
	if err != nil {
		return err
	}
	files, err := fs.Sub(s.Files, "examples/folder")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	tree, err := repository.Worktree()
	if err != nil {
		return err
	}
	if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		return err
	}
	author := &object.Signature{Name: "Fairlead", Email: "fairlead@localhost", When: time.Unix(0, 0).UTC()}
	_, err = tree.Commit("team: limits and rules", &git.CommitOptions{Author: author})
	return err
}
