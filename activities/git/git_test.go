package git_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/git"
)

func TestResolve(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"a": "1"})
	r.git("tag", "light")
	r.git("tag", "--annotate", "--message=of one's own", "v1")
	r.git("branch", "v1") // of the same name as a tag
	second := r.commit(map[string]string{"a": "2"})
	s := r.serve(false)
	for _, at := range []struct{ name, repo string }{
		{"a path", r.dir}, {"a file URL", "file://" + r.dir}, {"https", s.repoURL()},
	} {
		t.Run(at.name, func(t *testing.T) {
			for name, want := range map[string]string{
				"": second, "HEAD": second, "main": second, "refs/heads/main": second, "light": first, "v1": first, "refs/tags/v1": first, "tags/v1": first, "refs/heads/v1": first,
				first: first,
			} {
				got, err := s.reader(t).Resolve(t.Context(), at.repo, name, nil)
				if err != nil || got != want {
					t.Errorf("%q is %s, want %s; error %v", name, got, want, err)
				}
			}
			_, err := s.reader(t).Resolve(t.Context(), at.repo, "none", nil)
			var missing *git.NotFoundError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), "has no branch or tag none") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestOddNames(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"a": "1"})
	r.git("branch", "dependabot/npm/@types/node-1")
	r.git("tag", "--annotate", "--message=one", "inner")
	r.git("tag", "--annotate", "--message=two", "outer", "inner")
	r.git("worktree", "add", "--quiet", "--detach", r.dir+"/../linked")
	t.Cleanup(func() { must(t, os.RemoveAll(r.dir+"/../linked")) })
	s := r.serve(false)
	for _, at := range []string{r.dir, filepath.Join(r.dir, "..", "linked"), s.repoURL()} {
		for _, name := range []string{"dependabot/npm/@types/node-1", "outer", "HEAD"} {
			got, err := s.reader(t).Resolve(t.Context(), at, name, nil)
			if got != first || err != nil {
				t.Errorf("%s of %s is %q, %v", name, at, got, err)
			}
		}
		tree, err := s.reader(t).Files(t.Context(), at, first, nil)
		must(t, err)
		if data, err := fs.ReadFile(tree, "a"); string(data) != "1" || err != nil {
			t.Errorf("a of %s is %q, %v", at, data, err)
		}
	}
}

func TestFilesAreReadAtTheSameTime(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{}
	for n := range 50 {
		files[fmt.Sprintf("d%d/e/f", n)] = fmt.Sprint(n)
	}
	commit := r.commit(files)
	s := r.serve(false)
	tree, err := s.reader(t).Files(t.Context(), s.repoURL(), commit, nil)
	must(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for name, want := range files {
				if got, err := fs.ReadFile(tree, name); string(got) != want || err != nil {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
		})
	}
	all.Wait()
}

func TestFiles(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{"a.yaml": "a: 1\n", "base/b.yaml": "b: 2\n", "base/deep/c.yaml": "", "base-d.yaml": "d\n"}
	first := r.commit(files)
	must(t, os.Symlink("../a.yaml", filepath.Join(r.dir, "base", "link")))
	second := r.commit(map[string]string{"a.yaml": "a: 2\n"})
	s := r.serve(false)
	for _, at := range []struct{ name, repo string }{{"a path", r.dir}, {"https", s.repoURL()}} {
		t.Run(at.name, func(t *testing.T) {
			reader := s.reader(t)
			tree, err := reader.Files(t.Context(), at.repo, first, nil)
			must(t, err)
			var names []string
			for name := range files {
				names = append(names, name)
			}
			must(t, fstest.TestFS(tree, names...))
			got := map[string]string{}
			must(t, fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					data, readErr := fs.ReadFile(tree, path)
					must(t, readErr)
					got[path] = string(data)
				}
				return err
			}))
			if diff := cmp.Diff(files, got); diff != "" {
				t.Errorf("of the first commit: %s", diff)
			}
			tree, err = reader.Files(t.Context(), at.repo, second, nil)
			must(t, err)
			data, err := fs.ReadFile(tree, "a.yaml")
			if string(data) != "a: 2\n" || err != nil {
				t.Errorf("a.yaml of the second commit: %q, %v", data, err)
			}
			info, err := tree.Lstat("base/link")
			must(t, err)
			target, err := tree.ReadLink("base/link")
			if info.Mode().Type() != fs.ModeSymlink || target != "../a.yaml" || err != nil {
				t.Errorf("the link is %v to %q, %v", info.Mode(), target, err)
			}
			_, err = fs.ReadFile(tree, "none")
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file that is not there: %v", err)
			}
		})
	}
	t.Run("a commit that is not there", func(t *testing.T) {
		_, err := s.reader(t).Files(t.Context(), r.dir, strings.Repeat("0", 39)+"1", nil)
		var missing *git.NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("part of a commit's digits is none", func(t *testing.T) {
		if _, err := s.reader(t).Files(t.Context(), r.dir, first[:12], nil); err == nil {
			t.Error("no error")
		}
	})
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name, repo string
		with       *git.Credentials
		says       string
	}{
		{"credentials in a URL", "https://robot:c4nary@git.example/x", nil, "put them into a Secret"},
		{"a token in a query", "https://git.example/x?token=c4nary", nil, "https://git.example/x?…: its URL has a query"},
		{"credentials without TLS", "http://git.example/x", credentials(), "over https only"},
		{"a relative path", "charts", nil, "an https:// URL or an absolute path"},
		{"a relative file URL", "file://charts", nil, "must be absolute"},
		{"a name without a host", "owner/name", nil, "repository owner/name: which host has it is not said"},
		{"another protocol", "ext::sh -c true c4nary", nil, "an https:// URL or an absolute path"},
		{"ssh", "ssh://git:c4nary@git.example/x", nil, "an https:// URL or an absolute path"},
		{"ssh in its short form", "git:c4nary@git.example:x", nil, "an https:// URL or an absolute path"},
		{"what is no URL", "https://robot:c4nary@git.example/%zz", nil, "cannot be read"},
		{"a port that is none", "https://robot:c4nary/x@git.example", nil, "cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reader := &git.Reader{Dir: t.TempDir()}
			_, err := reader.Resolve(t.Context(), tt.repo, "main", tt.with)
			_, whole := reader.Resolve(t.Context(), tt.repo, strings.Repeat("a", 40), tt.with)
			_, files := reader.Files(t.Context(), tt.repo, strings.Repeat("a", 40), tt.with)
			_, part := reader.Files(t.Context(), tt.repo, "main", tt.with)
			for _, err := range []error{err, whole, files, part} {
				if !errors.Is(err, git.ErrPermanent) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), password) {
					t.Errorf("error %v, want one that says %q", err, tt.says)
				}
			}
		})
	}
}
