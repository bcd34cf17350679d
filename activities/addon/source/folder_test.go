package source_test

import (
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// repo is a repository that the real git makes.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	r := &repo{t, filepath.Join(t.TempDir(), "owner", "name")}
	if err := os.MkdirAll(r.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit has files by name, and returns the commit.
func (r *repo) commit(files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message=change")
	return r.git("rev-parse", "HEAD")
}

func (r *repo) addon(path string, edits ...func(*addons.AddonSpec)) *addons.Addon {
	a := &addons.Addon{}
	a.Name = "shop"
	a.Spec.Namespace = "trade"
	a.Spec.Source.Git = &addons.GitSource{Repo: r.dir, Path: path}
	for _, edit := range edits {
		edit(&a.Spec)
	}
	return a
}

const settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
`

func TestAFolderIsRenderedFromItsCommit(t *testing.T) {
	w, r := newWorld(t), newRepo(t)
	commit := r.commit(map[string]string{
		"base/settings.yaml": settings, "base/kustomization.yaml": "resources: [settings.yaml]",
		"shop/kustomization.yaml": "namePrefix: my-\nresources: [../base]",
		"plain/settings.yaml":     settings, "plain/deeper/more.yaml": settings,
	})
	for name, c := range map[string]struct {
		path    string
		want    []string
		warning string
	}{
		"a kustomization":   {"shop/", []string{"Namespace trade", "ConfigMap trade/my-settings"}, ""},
		"files of a folder": {"plain", []string{"Namespace trade", "ConfigMap trade/settings"}, "not read, as the folder has no kustomization: plain/deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.rendered(r.addon(c.path, func(s *addons.AddonSpec) { s.CreateNamespace = true }))
			if diff := cmp.Diff(c.want, ids(got.Set)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if got.Revision != commit || got.Version != commit || got.Digest != commit || got.Known != -1 {
				t.Errorf("it is of %s, %s, %s, known %d", got.Revision, got.Version, got.Digest, got.Known)
			}
			if got.Warning != c.warning {
				t.Errorf("it warns %q, want %q", got.Warning, c.warning)
			}
			for _, o := range got.Set.Objects {
				if o.GetLabels()[addons.LabelAddon] != "shop" {
					t.Errorf("%s has the labels %v", o.ID(), o.GetLabels())
				}
			}
		})
	}
}

func TestACommitThatLeavesTheFolderAloneIsNoOtherContent(t *testing.T) {
	w, r := newWorld(t), newRepo(t)
	r.commit(map[string]string{"shop/settings.yaml": settings})
	first := w.rendered(r.addon("shop"))
	moved := r.commit(map[string]string{"README": "more"})
	second := w.rendered(r.addon("shop"), first.Render)
	if second.Known != 0 || second.Content != first.Content || second.Revision != moved || second.Digest != moved {
		t.Errorf("known %d, content %s after %s, revision %s, want %s", second.Known, second.Content, first.Content, second.Revision, moved)
	}
	r.commit(map[string]string{"shop/settings.yaml": strings.ReplaceAll(settings, "blue", "green")})
	third := w.rendered(r.addon("shop"), second.Render)
	if third.Known != -1 || third.Content == first.Content {
		t.Errorf("another folder is known as %d, content %s", third.Known, third.Content)
	}
	if pinned := w.rendered(r.addon("shop", func(s *addons.AddonSpec) { s.Source.Git.Revision = moved }), third.Render, first.Render); pinned.Known != 1 {
		t.Errorf("the pinned commit is known as %d", pinned.Known)
	}
}

func TestARepositoryWithoutHostIsBelowTheBase(t *testing.T) {
	w, r := newWorld(t), newRepo(t)
	r.commit(map[string]string{"settings.yaml": settings})
	a := r.addon(".", func(s *addons.AddonSpec) { s.Source.Git.Repo = "owner/name" })
	w.failsForGood(a, "owner/name", "https://")
	w.GitBase = "file://" + strings.TrimSuffix(r.dir, "/owner/name") + "/"
	if got := w.rendered(a); len(got.Set.Objects) != 1 {
		t.Errorf("got %v", ids(got.Set))
	}
}

func TestAFolderThatCannotBeRenderedIsNamed(t *testing.T) {
	w, r := newWorld(t), newRepo(t)
	r.commit(map[string]string{
		"empty/README": "nothing",
		"bad/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: " + canary + "}\n---\n" +
			canary + ": [",
	})
	for path, words := range map[string][]string{
		"none": {"folder none of " + r.dir, "no such folder"}, "empty": {"folder empty of " + r.dir, "no objects"}, "bad": {"folder bad of " + r.dir},
	} {
		t.Run(path, func(t *testing.T) { w.fails(r.addon(path), words...) })
	}
	w.failsForGood(r.addon("bad", func(s *addons.AddonSpec) { s.Source.Git.Revision = "gone" }), "gone")
}

func TestAPrivateGitRepositoryGetsItsCredentials(t *testing.T) {
	w, r := newWorld(t), newRepo(t)
	r.commit(map[string]string{"shop/settings.yaml": settings})
	backend := &cgi.Handler{
		Path: filepath.Join(r.git("--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + r.dir, "GIT_HTTP_EXPORT_ALL=1"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer "+canary {
			out.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(out, req)
	}))
	t.Cleanup(server.Close)
	private := r.addon("shop", func(s *addons.AddonSpec) { s.Source.Git.Repo = server.URL + "/.git" })
	w.failsForGood(private, server.URL)

	w.secret("token", "token", canary)
	private.Spec.Source.Git.CredentialsSecretRef = &addons.SecretRef{Name: "token"}
	if got := w.rendered(private); len(got.Set.Objects) != 1 || !strings.Contains(joined(got.Secrets), canary) {
		t.Errorf("got %v, and %d secrets", ids(got.Set), len(got.Secrets))
	}
}
