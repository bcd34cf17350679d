package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// seenByAPI is how long the cache of the API may take to see a proxy, on a busy machine.
const seenByAPI = 30 * time.Second

// kubectl runs kubectl as a person would.
func (s *stack) kubectl(args ...string) string {
	s.t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		path = filepath.Join(localtest.Dir(s.t), "kubectl")
	}
	cmd := exec.Command(path, append([]string{"--kubeconfig", s.kubeconfig}, args...)...) // #nosec G204 -- built by make
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// fairlead runs a command of the program as the operator would.
func (s *stack) fairlead(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(program, args...) // #nosec G204 -- the program under test
	cmd.Env = append(os.Environ(), "FAIRLEAD_API_URL="+s.http, "FAIRLEAD_TOKEN_FILE="+filepath.Join(s.dir, "operator.token"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("fairlead %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// apply makes the objects of a file, with some of its words changed: each is
// followed by what takes its place.
func (s *stack) apply(file string, changes ...string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			s.t.Fatalf("%s does not have %q", file, changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	changed := filepath.Join(s.t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.kubectl("apply", "-f", changed)
}

// borrow leases a proxy as a crawler does: the API may see a proxy that has just become
// Ready a moment later than kubectl.
func (s *stack) borrow(request string) (id string, proxy *url.URL) {
	s.t.Helper()
	var granted struct {
		LeaseID string
		Proxy   struct {
			Scheme, Host string
			Port         int
		}
	}
	eventually.Sees(s.t, "a lease", seenByAPI, func() (bool, string) {
		code, data := s.ask(http.MethodPost, "/v1/leases", request)
		if code == http.StatusConflict {
			return false, string(data)
		}
		if err := json.Unmarshal(data, &granted); err != nil || code != http.StatusCreated {
			s.t.Fatalf("lease answered %d %s: %v", code, data, err)
		}
		return true, ""
	})
	return granted.LeaseID, &url.URL{Scheme: granted.Proxy.Scheme, Host: fmt.Sprintf("%s:%d", granted.Proxy.Host, granted.Proxy.Port)}
}

func (s *stack) giveBack(lease string) {
	s.t.Helper()
	if code := s.call(http.MethodDelete, "/v1/leases/"+lease, "", nil); code != http.StatusNoContent {
		s.t.Errorf("release answered %d", code)
	}
}

// call asks the HTTP API as the operator, and decodes the answer into v.
func (s *stack) call(method, path, body string, v any) int {
	s.t.Helper()
	code, data := s.ask(method, path, body)
	if v != nil {
		if err := json.Unmarshal(data, v); err != nil {
			s.t.Fatalf("%s %s answered %d %s: %v", method, path, code, data, err)
		}
	}
	return code
}

// ask asks the HTTP API as the operator.
func (s *stack) ask(method, path, body string) (code int, answer []byte) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.dir, "operator.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, data
}

// through fetches target through the proxy.
func through(t *testing.T, proxy *url.URL, target string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := c.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}
