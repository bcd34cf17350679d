package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/git"
)

// kept are the names in the directory of a reader.
func kept(t *testing.T, r *git.Reader) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(r.Dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// reads checks the content of the file a.
func reads(t *testing.T, files fs.FS, want string) {
	t.Helper()
	if got, err := fs.ReadFile(files, "a"); err != nil || string(got) != want {
		t.Errorf("a has %q, want %q; error %v", got, want, err)
	}
}

func TestRoom(t *testing.T) {
	r := newRepo(t)
	first := r.commit(map[string]string{"a": "1"})
	second := r.commit(map[string]string{"a": "2"})
	s := r.serve(false)
	reader := s.reader(t)
	reader.MaxKept = 1
	files, err := reader.Files(t.Context(), s.repoURL(), first, nil)
	must(t, err)
	_, err = reader.Files(t.Context(), s.repoURL(), second, nil)
	must(t, err)
	t.Run("is not made of what is in use", func(t *testing.T) {
		reads(t, files, "1")
		runtime.KeepAlive(files)
	})
	t.Run("is made of what nobody uses any more", func(t *testing.T) {
		files = nil
		eventually(t, "nothing is in use", func() bool {
			runtime.GC()
			return reader.Held() == 0
		})
		_, err := reader.Files(t.Context(), s.repoURL(), first, nil) // is still there
		must(t, err)
		_, err = reader.Files(t.Context(), s.repoURL(), r.commit(map[string]string{"a": "3"}), nil)
		must(t, err)
		if names := kept(t, reader); strings.Contains(strings.Join(names, " "), second) {
			t.Errorf("%v are kept", names)
		}
	})
}

func TestRestart(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"a": "1"})
	s := r.serve(false)
	before := s.reader(t)
	_, err := before.Files(t.Context(), s.repoURL(), commit, nil)
	must(t, err)
	_, err = before.Files(t.Context(), s.repoURL(), commit, credentials())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(before.Dir, "unfinished-1"), 0o700))
	must(t, os.Mkdir(filepath.Join(before.Dir, "foreign"), 0o700))
	sent := s.packs.Load()

	after := &git.Reader{Dir: before.Dir, HTTP: before.HTTP}
	files, err := after.Files(t.Context(), s.repoURL(), commit, nil)
	must(t, err)
	reads(t, files, "1")
	if n := s.packs.Load() - sent; n != 0 {
		t.Errorf("%d packs were sent for what everybody may read, want none", n)
	}
	names := kept(t, after)
	if len(names) != 2 || names[0] != "foreign" || !strings.HasPrefix(names[1], "open-") {
		t.Errorf("%v are kept, want what everybody may read and what is not ours", names)
	}
}

func TestDamageHeals(t *testing.T) {
	r := newRepo(t)
	commit := r.commit(map[string]string{"a": "1"})
	s := r.serve(false)
	for _, tt := range []struct {
		name   string
		damage func(path string) error
		file   string
	}{
		{"a pack that is cut short", func(path string) error { return os.Truncate(path, 40) }, "pack-*.pack"},
		{"a pack that is empty", func(path string) error { return os.Truncate(path, 0) }, "pack-*.pack"},
		{"an index that is cut short", func(path string) error { return os.Truncate(path, 1000) }, "pack-*.idx"},
		{"a pack that is gone", os.Remove, "pack-*.pack"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reader := s.reader(t)
			_, err := reader.Files(t.Context(), s.repoURL(), commit, nil)
			must(t, err)
			found, err := filepath.Glob(filepath.Join(reader.Dir, "*", "objects", "pack", tt.file))
			if err != nil || len(found) != 1 {
				t.Fatalf("%v, %v", found, err)
			}
			must(t, os.Chmod(found[0], 0o600)) // #nosec G302 -- of the test
			must(t, tt.damage(found[0]))
			sent := s.packs.Load()
			files, err := reader.Files(t.Context(), s.repoURL(), commit, nil)
			must(t, err)
			reads(t, files, "1")
			if n := s.packs.Load() - sent; n != 1 {
				t.Errorf("%d packs were sent, want 1", n)
			}
		})
	}
}

func TestCommitThatComesLater(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "1"})
	hidden := r.git("commit-tree", "-m", "hidden", r.git("rev-parse", "HEAD^{tree}"))
	s := r.serve(false)
	reader := s.reader(t)
	_, err := reader.Files(t.Context(), s.repoURL(), hidden, nil)
	var missing *git.NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, git.ErrPermanent) {
		t.Errorf("error %v", err)
	}
	empty(t, reader)
	r.git("branch", "later", hidden)
	files, err := reader.Files(t.Context(), s.repoURL(), hidden, nil)
	must(t, err)
	reads(t, files, "1")
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 10 s: %s", what)
		}
	}
}
