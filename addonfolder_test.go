package main

import (
	"encoding/pem"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/deploy/local/localtest"
)

// gitIn runs the real git.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...) // #nosec G204 -- of the test
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  big: \"9007199254740993\"\n"

// gitRepository has a kustomization, a plain folder, and their definitions, in a commit.
func gitRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, dir, map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml]\n",
		"base/web.yaml":           configMap,
		"web/kustomization.yaml":  "resources: [../base]\nnamePrefix: shop-\nnamespace: trade\n",
		"plain/b.yaml":            configMap,
		"plain/a.yml":             "# first\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: key}}\n",
		"plain/below/c.yaml":      configMap,
		"addons/web.yaml":         "name: web\nnamespace: trade\ngit: {path: web}\n",
		"addons/plain.yaml":       "name: plain\nnamespace: trade\ngit: {path: ./plain/}\n",
	})
	gitIn(t, dir, "add", "--all")
	gitIn(t, dir, "commit", "--quiet", "--message=first")
	return dir
}

func TestADefinedFolderIsPrintedAsItLiesInTheWorkingCopy(t *testing.T) {
	dir := gitRepository(t)
	write(t, dir, map[string]string{"base/web.yaml": strings.Replace(configMap, "big", "uncommitted", 1)})
	got, errs, err := renderAddon(t, nil, "-f", filepath.Join(dir, "addons", "web.yaml"))
	if err != nil || errs != "" {
		t.Fatalf("%v\n%s", err, errs)
	}
	want := stdout(t, filepath.Join(localtest.Dir(t), "kubectl"), "kustomize", filepath.Join(dir, "web"))
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, "uncommitted") {
		t.Errorf("(-kubectl kustomize +fairlead):\n%s\nall:\n%s", diff, got)
	}
}

func TestAFolderWithoutKustomizationIsPrintedFileByFile(t *testing.T) {
	got, errs, err := renderAddon(t, nil, "-f", filepath.Join(gitRepository(t), "addons", "plain.yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	want := "---\n# Source: plain/a.yml\napiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n" +
		"---\n# Source: plain/b.yaml\napiVersion: v1\ndata:\n  big: \"9007199254740993\"\nkind: ConfigMap\nmetadata:\n  name: web\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it is another (- wanted, + printed):\n%s", diff)
	}
	if want := "warning: not read, as an add-on does not: plain/below\n"; errs != want {
		t.Errorf("it warns %q, want %q", errs, want)
	}
}

// TestOtherRepositories has a second commit that changes what is rendered.
func TestOtherRepositories(t *testing.T) {
	dir := gitRepository(t)
	first := stdout(t, filepath.Join(localtest.Dir(t), "kubectl"), "kustomize", filepath.Join(dir, "web"))
	gitIn(t, dir, "tag", "v1")
	write(t, dir, map[string]string{"base/web.yaml": strings.Replace(configMap, "big", "second", 1)})
	gitIn(t, dir, "commit", "--all", "--quiet", "--message=second")
	second := stdout(t, filepath.Join(localtest.Dir(t), "kubectl"), "kustomize", filepath.Join(dir, "web"))
	write(t, dir, map[string]string{"base/web.yaml": strings.Replace(configMap, "big", "third", 1)})
	third := stdout(t, filepath.Join(localtest.Dir(t), "kubectl"), "kustomize", filepath.Join(dir, "web"))
	bare := filepath.Join(t.TempDir(), "bare.git")
	gitIn(t, dir, "clone", "--quiet", "--bare", dir, bare)
	url, env := gitServer(t, dir)
	for name, test := range map[string]struct {
		git, warns, want string
		args             []string
	}{
		"the tip of a path":               {git: "repo: " + dir, want: second},
		"a tag of a path":                 {git: "repo: " + dir + ", revision: v1", want: first},
		"the tip of a URL":                {git: "repo: '" + url + "'", want: second},
		"a tag of a URL":                  {git: "repo: '" + url + "', revision: v1, credentialsSecretRef: {name: key}", want: first, warns: "warning: git.credentialsSecretRef: Secret key is left out: there is no cluster to read it from; trying without credentials\n"},
		"a working copy":                  {git: "repo: owner/name", args: []string{"--repo", dir}, want: third},
		"a working copy, and a revision":  {git: "repo: owner/name, revision: v1", args: []string{"--repo", dir}, want: third, warns: "warning: git.revision v1 is not looked at: the folder is read as it is in " + dir + "\n"},
		"a bare repository":               {git: "repo: owner/name", args: []string{"--repo", bare}, want: second},
		"a revision of a bare repository": {git: "repo: owner/name, revision: v1", args: []string{"--repo", bare}, want: first},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			write(t, temp, map[string]string{"web.yaml": "name: web\nnamespace: trade\ngit: {path: web, " + test.git + "}\n"})
			scratch := filepath.Join(temp, "scratch")
			if err := os.Mkdir(scratch, 0o750); err != nil {
				t.Fatal(err)
			}
			got, errs, err := renderAddon(t, append(env, "TMPDIR="+scratch), append([]string{"-f", filepath.Join(temp, "web.yaml")}, test.args...)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, errs)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-kubectl kustomize +fairlead):\n%s", diff)
			}
			if errs != test.warns {
				t.Errorf("it warns %q, want %q", errs, test.warns)
			}
			if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v behind (%v)", left, err)
			}
		})
	}
}

// gitServer serves a repository over https, and returns what a program needs to trust it.
func gitServer(t *testing.T, dir string) (url string, env []string) {
	t.Helper()
	s := httptest.NewTLSServer(&cgi.Handler{
		Path: filepath.Join(gitIn(t, dir, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(s.Close)
	trust := t.TempDir()
	write(t, trust, map[string]string{"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))})
	return s.URL + "/.git", []string{"SSL_CERT_FILE=" + filepath.Join(trust, "ca.pem")}
}
