package leasecli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestAnOutageIsOutlasted(t *testing.T) {
	for name, test := range map[string]struct {
		patience time.Duration
		args     []string
	}{
		"by patience": {time.Minute, []string{"get"}},
		"by --wait":   {time.Millisecond, []string{"get", "--wait", "60s"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.patience = test.patience
			address := freeAddress(t)
			t.Setenv("FAIRLEAD_API_URL", "http://"+address)
			back := make(chan *httptest.Server, 1)
			time.AfterFunc(3*time.Second, func() {
				l, err := net.Listen("tcp", address)
				if err != nil {
					t.Error(err)
					close(back)
					return
				}
				server := &httptest.Server{Listener: l, Config: &http.Server{Handler: s.api, ReadHeaderTimeout: time.Minute}}
				server.Start()
				back <- server
			})
			err := s.run(test.args...)
			if server := <-back; server != nil {
				defer server.Close()
			}
			if err != nil {
				t.Error(err)
			}
			says := regexp.MustCompile(`^fairlead: the API at http://127.0.0.1:\d+ cannot be used, and is tried again until \d\d:\d\d:\d\d: .*connection refused\n$`)
			if !says.MatchString(s.err.String()) {
				t.Errorf("it says %q", s.err.String())
			}
			s.active("lease-001")
		})
	}
}

// freeAddress is one at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestAWaitIsTold(t *testing.T) {
	const says = "fairlead: waiting up to 30s for a proxy ...\n"
	for name, args := range map[string][]string{
		"of get":  {"get", "--wait", "30s"},
		"of exec": {"exec", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.prints("get", "--count", "2")
			time.AfterFunc(2500*time.Millisecond, func() { s.api.Forget("lease-002") })
			s.prints(args...)
			if got := s.err.String(); got != says {
				t.Errorf("it says %q, want %q", got, says)
			}
		})
	}
}

func TestASessionThatMovedIsTold(t *testing.T) {
	const grant = `{"leaseID":"lease-007","ttlSeconds":60,"session":"keep","sessionMoved":"draining","expiresAt":"2036-01-01T00:00:00Z",` +
		`"proxy":{"namespace":"default","name":"b","scheme":"http","host":"127.64.0.7","port":3128}}`
	for name, args := range map[string][]string{
		"by get":  {"get", "--session", "keep"},
		"by exec": {"exec", "--session", "keep", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			s.api.Instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost {
					return false
				}
				w.WriteHeader(http.StatusCreated)
				_, _ = w.Write([]byte(grant))
				return true
			}
			s.prints(args...)
			if got := s.err.String(); !strings.Contains(got, "session keep moved to default/b: draining\n") {
				t.Errorf("it says %q", got)
			}
		})
	}
}
