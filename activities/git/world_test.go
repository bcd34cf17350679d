package git_test

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/fairlead/activities/git"
)

// repo is a repository that the real git makes and serves.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	r := &repo{t, t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...) // #nosec G204 -- of the test
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
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message=change")
	return r.git("rev-parse", "HEAD")
}

// server serves a repository over https, as git does.
type server struct {
	*httptest.Server

	packs atomic.Int64
	// blocked holds packs back until it is closed.
	blocked chan struct{}
}

const (
	user     = "robot"
	password = "c4nary"
)

// serve serves r, to who has the credentials if secured.
func (r *repo) serve(secured bool) *server {
	r.t.Helper()
	s := &server{}
	backend := &cgi.Handler{
		Path: filepath.Join(r.git("--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + r.dir, "GIT_HTTP_EXPORT_ALL=1"},
	}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if u, p, _ := req.BasicAuth(); secured && (u != user || p != password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(req.URL.Path, "git-upload-pack") && req.Method == http.MethodPost {
			s.packs.Add(1)
			if s.blocked != nil {
				<-s.blocked
			}
		}
		backend.ServeHTTP(w, req)
	}))
	r.t.Cleanup(s.Close)
	return s
}

// repoURL is where the repository is served.
func (s *server) repoURL() string { return s.URL + "/.git" }

func (s *server) reader(t *testing.T) *git.Reader {
	t.Helper()
	return &git.Reader{Dir: filepath.Join(t.TempDir(), "kept"), HTTP: s.Client().Transport}
}

func credentials() *git.Credentials { return &git.Credentials{Username: user, Password: password} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
