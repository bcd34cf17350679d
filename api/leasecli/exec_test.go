package leasecli_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/api/client/clienttest"
	"example.com/fairlead/api/leasecli"
	"example.com/fairlead/internal/eventually"
)

// lines are those of what was printed that name one of the variables.
func lines(printed string, variables ...string) []string {
	var found []string
	for line := range strings.Lines(printed) {
		for _, v := range variables {
			if strings.HasPrefix(line, v+"=") {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	return found
}

func TestACommandHasTheProxyInItsEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://former.test:1")
	t.Setenv("NO_PROXY", "internal.test")
	const proxy = "://crawler:c4nary@127.64.0.7:3128"
	for scheme, variables := range map[string][]string{
		"http":   {"HTTPS_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy"},
		"socks5": {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "http_proxy", "https_proxy"},
	} {
		t.Run(scheme, func(t *testing.T) {
			s := newShell(t)
			s.api.Edit(func() { s.api.Proxies()[0].Scheme = scheme })
			printed := s.prints("exec", "--", "sh", "-c", "env | sort")
			var want []string
			for _, v := range variables {
				want = append(want, v+"="+scheme+proxy)
			}
			if diff := cmp.Diff(want, lines(printed, "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "http_proxy", "https_proxy")); diff != "" {
				t.Errorf("proxies (-want +got):\n%s", diff)
			}
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			want = []string{
				"FAIRLEAD_API_URL=" + s.url, "FAIRLEAD_LEASE=lease-001",
				"FAIRLEAD_TOKEN_FILE=" + filepath.Join(here, ".fairlead/operator.token"), "NO_PROXY=internal.test",
			}
			if diff := cmp.Diff(want, lines(printed, "FAIRLEAD_API_URL", "FAIRLEAD_LEASE", "FAIRLEAD_TOKEN_FILE", "NO_PROXY")); diff != "" {
				t.Errorf("others (-want +got):\n%s", diff)
			}
			s.active()
		})
	}
}

func TestACommandEndsAsItWants(t *testing.T) {
	for name, test := range map[string]struct {
		command []string
		code    int
		says    string
		leases  int
	}{
		"well":                         {command: []string{"true"}, leases: 1},
		"with a code":                  {command: []string{"sh", "-c", "exit 42"}, code: 42, leases: 1},
		"by a signal":                  {command: []string{"sh", "-c", "kill -9 $$"}, code: 137, leases: 1},
		"flags of the command are its": {command: []string{"sh", "-c", `test "$1" = --ttl`, "x", "--ttl"}, leases: 1},
		"not found":                    {command: []string{"no-such-command"}, code: 127, says: "run no-such-command: "},
		"not executable":               {command: []string{"./data"}, code: 126, says: "run ./data: "},
		"not a program":                {command: []string{"./broken"}, code: 127, says: "run ./broken: ", leases: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			for file, mode := range map[string]os.FileMode{"data": 0o600, "broken": 0o700} {
				if err := os.WriteFile(file, []byte("\x00"), mode); err != nil {
					t.Fatal(err)
				}
			}
			err := s.run(append([]string{"exec"}, test.command...)...)
			var ended *leasecli.Ended
			code := 0
			if errors.As(err, &ended) {
				code = ended.Code
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code || !strings.Contains(s.err.String(), test.says) {
				t.Errorf("code %d, want %d; it says %q", code, test.code, s.err.String())
			}
			if n := len(s.api.Asked("POST /v1/leases")); n != test.leases {
				t.Errorf("%d leases were asked for", n)
			}
			s.active()
		})
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	s := newShell(t)
	ended := make(chan error, 1)
	go func() {
		ended <- s.run("exec", "--", "sh", "-c", `trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done`)
	}()
	eventually.Until(t, "the command runs", func() bool { return strings.Contains(s.out.String(), "ready") })
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var code *leasecli.Ended
	if err := <-ended; !errors.As(err, &code) || code.Code != 7 {
		t.Errorf("the command ended with %v", err)
	}
	s.active()
}

// untilDone is a command that runs until there is a file called done, and then prints on.
const untilDone = "until [ -e done ]; do sleep 0.05; done; echo on"

// meanwhile makes that file as soon as something is so.
func meanwhile(t *testing.T, what string, so func() bool, command func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		command()
	}()
	eventually.Until(t, what, so)
	if err := os.WriteFile("done", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestALeaseIsRenewedWhileTheCommandRuns(t *testing.T) {
	s := newShell(t)
	renewals := func() bool { return len(s.api.Asked("POST /v1/leases/lease-001/renew")) >= 3 }
	meanwhile(t, "three renewals", renewals, func() {
		if err := s.run("exec", "--ttl", "3s", "--", "sh", "-c", untilDone); err != nil {
			t.Error(err)
		}
	})
	if s.err.String() != "" {
		t.Errorf("it says %q", s.err.String())
	}
	s.active()
}

func TestACommandOutlivesItsLease(t *testing.T) {
	s := newShell(t)
	s.api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/renew") {
			return false
		}
		clienttest.Refuse(w, http.StatusGone, "proxy_gone", "the proxy was deleted")
		return true
	}
	told := func() bool {
		return strings.Contains(s.err.String(), "the lease is over, and the command runs on without it: ") && strings.Contains(s.err.String(), "the proxy was deleted")
	}
	meanwhile(t, "that the lease is over is told", told, func() {
		if err := s.run("exec", "--ttl", "1s", "--", "sh", "-c", untilDone); err != nil {
			t.Error(err)
		}
	})
	if got := s.out.String(); got != "on\n" {
		t.Errorf("it prints %q", got)
	}
}

func TestExecWaitsForAProxy(t *testing.T) {
	s := newShell(t)
	s.prints("get", "--count", "2")
	time.AfterFunc(100*time.Millisecond, func() { s.api.Forget("lease-002") })
	if got := s.prints("exec", "--", "sh", "-c", `echo "$FAIRLEAD_LEASE"`); got != "lease-003\n" {
		t.Errorf("it prints %q", got)
	}
}
