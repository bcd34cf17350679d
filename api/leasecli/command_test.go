package leasecli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client/clienttest"
	"example.com/fairlead/api/leasecli"
)

// output collects what is printed.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// shell is a directory in which `fairlead lease` is called.
type shell struct {
	t        *testing.T
	api      *clienttest.API
	url      string
	patience time.Duration
	out, err output
}

// newShell has an API that lends two proxies and asks for a token, and the environment
// that names it.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, patience: 2 * time.Second, api: clienttest.New(proxyNamed("a"), proxyNamed("b"))}
	s.api.Token = "secret"
	server := httptest.NewServer(s.api)
	t.Cleanup(server.Close)
	s.url = server.URL
	t.Chdir(t.TempDir())
	t.Setenv(leasecli.EnvURL, s.url)
	t.Setenv(leasecli.EnvTokenFile, "")
	s.token(".fairlead/operator.token", "secret")
	return s
}

func proxyNamed(name string) *clienttest.Proxy {
	return &clienttest.Proxy{
		Namespace: "crawl", Name: name, Scheme: "http", Host: "127.64.0.7", Port: 3128, URL: "http://127.64.0.7:3128",
		Attributes: map[string]string{"region": "local", "name": name}, Username: "crawler", Password: "c4nary",
	}
}

func (s *shell) token(file, token string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run calls `fairlead lease`.
func (s *shell) run(args ...string) error {
	s.t.Helper()
	cmd := leasecli.CommandOf(s.patience)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true // as fairlead does
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&s.out)
	cmd.SetErr(&s.err)
	return cmd.ExecuteContext(context.WithoutCancel(s.t.Context()))
}

// prints calls it and returns what it prints.
func (s *shell) prints(args ...string) string {
	s.t.Helper()
	s.out.b.Reset()
	if err := s.run(args...); err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return s.out.String()
}

func (s *shell) active(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.api.Active()); diff != "" {
		s.t.Errorf("active leases (-want +got):\n%s", diff)
	}
}

// seconds are those that a slow machine may have lost.
var seconds = regexp.MustCompile(`m\d+s`)

func TestGetPrints(t *testing.T) {
	const withCredentials = "http://crawler:c4nary@127.64.0.7:3128\n"
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a table without credentials": {nil, "LEASE       PROXY     ADDRESS                  EXPIRES\nlease-001   crawl/a   http://127.64.0.7:3128   in 4m…\n"},
		"a URL with them":             {[]string{"-o", "url"}, withCredentials},
		"as many as are asked for":    {[]string{"-o", "url", "--count", "2"}, withCredentials + withCredentials},
		"as many as will do":          {[]string{"-o", "url", "--count", "3", "--at-least", "1"}, withCredentials + withCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			got := seconds.ReplaceAllString(s.prints(append([]string{"get"}, test.args...)...), "m…")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(s.api.Active()) == 0 {
				t.Error("the lease did not outlive the command")
			}
		})
	}
}

func TestGetPrintsJSONAsTheAPIDoes(t *testing.T) {
	s := newShell(t)
	var one struct {
		LeaseID    string
		TTLSeconds int
		Proxy      struct{ Name, Password string }
	}
	if err := json.Unmarshal([]byte(s.prints("get", "--selector", "region=local,name=b", "--ttl", "90s", "-o", "json")), &one); err != nil {
		t.Fatal(err)
	}
	if one.LeaseID != "lease-001" || one.TTLSeconds != 90 || one.Proxy.Name != "b" || one.Proxy.Password != "c4nary" {
		t.Errorf("one: %+v", one)
	}
	var many struct {
		Count  int
		Leases []struct{ LeaseID string }
	}
	if err := json.Unmarshal([]byte(s.prints("get", "--count", "1", "-o", "json")), &many); err != nil {
		t.Fatal(err)
	}
	if many.Count != 1 || many.Leases[0].LeaseID != "lease-002" {
		t.Errorf("many: %+v", many)
	}
}

func TestGetAsksForWhatTheFlagsSay(t *testing.T) {
	s := newShell(t)
	s.prints("get", "--target", "shop.example", "--ttl", "10m", "--wait", "5s", "--session", "s", "--exclusive", "--priority", "2")
	var got map[string]any
	if err := json.Unmarshal([]byte(s.api.Asked("POST /v1/leases")[0].Body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"target": "shop.example", "ttlSeconds": 600.0, "waitSeconds": 5.0, "session": "s", "exclusive": true, "priority": 2.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeasesAreListed(t *testing.T) {
	s := newShell(t)
	s.prints("get", "--target", "shop.example", "--ttl", "1h")
	s.prints("get", "--ttl", "1h")
	lines := strings.Split(strings.TrimSpace(s.prints("ls")), "\n")
	var got [][]string
	for _, line := range lines {
		got = append(got, strings.Fields(line)[:4])
	}
	want := [][]string{{"LEASE", "PROXY", "CLIENT", "TARGET"}, {"lease-001", "crawl/a", "tester", "shop.example"}, {"lease-002", "crawl/b", "tester", "-"}}
	if diff := cmp.Diff(want, got); diff != "" || !regexp.MustCompile(` in (1h0m0s|59m5\ds)$`).MatchString(lines[1]) {
		t.Errorf("%s\n(-want +got):\n%s", strings.Join(lines, "\n"), diff)
	}
	var listed struct{ Count int }
	if err := json.Unmarshal([]byte(s.prints("ls", "-o", "json")), &listed); err != nil || listed.Count != 2 {
		t.Errorf("as JSON: %+v, %v", listed, err)
	}
}

func TestALeaseIsRenewedReportedOnAndReleased(t *testing.T) {
	s := newShell(t)
	s.prints("get", "--ttl", "1m")
	if got := s.prints("renew", "lease-001", "--ttl", "10m"); !regexp.MustCompile(`^lease lease-001 expires in (10m0s|9m5\ds)\n$`).MatchString(got) {
		t.Errorf("renew prints %q", got)
	}
	s.prints("report", "lease-001", "rate_limited", "--retry-after", "2m", "--target", "shop.example")
	want := `{"result":"rate_limited","target":"shop.example","retryAfterSeconds":120}`
	if got := s.api.Asked("POST /v1/leases/lease-001/report")[0].Body; got != want {
		t.Errorf("reported %s", got)
	}
	s.active("lease-001")
	s.prints("release", "lease-001", "lease-007")
	s.active()
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	s := newShell(t)
	for says, args := range map[string][]string{
		"none of text, json, url":                        {"get", "-o", "yaml"},
		"none of text, json":                             {"ls", "-o", "url"},
		"none of [ok rate_limited":                       {"report", "x", "fine"},
		"for rate_limited only":                          {"report", "x", "banned", "--retry-after", "1m"},
		"--retry-after is 1.5s: give whole seconds":      {"report", "x", "rate_limited", "--retry-after", "1500ms"},
		"give --count too":                               {"get", "--at-least", "1"},
		"--count is 0: give 1 to 100":                    {"get", "--count", "0"},
		"--count is 101: give 1 to 100":                  {"get", "--count", "101"},
		"--at-least is 3: give 1 to 2":                   {"get", "--count", "2", "--at-least", "3"},
		"--at-least is 0: give 1 to 2":                   {"get", "--count", "2", "--at-least", "0"},
		"--wait is -1s: give whole seconds, 0s or more":  {"get", "--wait", "-1s"},
		"--wait is 1.5s: give whole seconds":             {"exec", "--wait", "1500ms", "true"},
		"--ttl is 100ms: give whole seconds, 1s or more": {"get", "--ttl", "100ms"},
		"--ttl is 1m0.5s: give whole seconds":            {"exec", "--ttl", "60500ms", "true"},
		"--ttl is 0s: give whole seconds, 1s or more":    {"renew", "x", "--ttl", "0s"},
		"name the lease: fairlead lease release LEASE;":  {"release"},
		"name the lease: fairlead lease renew LEASE;":    {"renew"},
		"name the lease and what was seen: ":             {"report"},
		"say what was seen: ":                            {"report", "x"},
		"name the command to run: fairlead lease exec":   {"exec"},
		`"y" is too much: lease renew LEASE`:             {"renew", "x", "y"},
		"must be one such as http:":                      {"ls", "--api-url", "127.0.0.1:8090"},
	} {
		if err := s.run(args...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", args, err, says)
		}
	}
	if asked := s.api.Asked(""); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}

func TestErrorsNameTheRemedy(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(*shell)
		args    []string
		says    string
	}{
		"nobody listens": {
			args: []string{"ls", "--api-url", "http://127.0.0.1:1"},
			says: "nothing listens at http://127.0.0.1:1: is `fairlead dev` or `fairlead api` running? --api-url",
		},
		"no token": {
			arrange: func(s *shell) { _ = os.RemoveAll(".fairlead") },
			args:    []string{"ls"},
			says:    "asks for a token: --token-file names a file with one; `fairlead dev` keeps it in .fairlead/operator.token",
		},
		"a former token": {
			arrange: func(s *shell) { s.token("former", "former") },
			args:    []string{"ls", "--token-file", "former"},
			says:    "does not know the token in former: --token-file",
		},
		"no such file": {
			args: []string{"ls", "--token-file", "missing"},
			says: "no such file or directory: --token-file names the file",
		},
		"all proxies are busy": {
			arrange: func(s *shell) { s.prints("get", "--count", "2") },
			args:    []string{"get"},
			says:    "--wait 30s",
		},
		"an unknown lease": {
			args: []string{"renew", "lease-007"},
			says: "unknown_lease",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			if test.arrange != nil {
				test.arrange(s)
			}
			if err := s.run(test.args...); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want %q", err, test.says)
			}
		})
	}
}

func TestTheEnvironmentNamesTheTokenFile(t *testing.T) {
	s := newShell(t)
	s.token("elsewhere/token", "secret")
	s.token(".fairlead/operator.token", "another")
	t.Setenv(leasecli.EnvTokenFile, "elsewhere/token")
	s.prints("ls")
}
