package probe_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/activities/probe"
	"example.com/fairlead/internal/eventually"
)

const squidConf = `http_port %[1]s
pid_filename none
pinger_enable off
shutdown_lifetime 1 seconds
visible_hostname probe-test
access_log none
cache_log /dev/null
cache_store_log none
coredump_dir %[2]s
cache deny all
connect_timeout 2 seconds
auth_param basic program /bin/sh %[2]s/check-password
auth_param basic children 1
acl known proxy_auth REQUIRED
acl closed dst 127.0.0.2
http_access deny !known
http_access deny closed
http_access allow all
`

const checkPassword = `while read -r line; do
  if [ "$line" = "robot s3cret" ]; then echo OK; else echo ERR; fi
done
`

// startSquid runs Debian's Squid on a loopback port and returns where.
func startSquid(t *testing.T) probe.Endpoint {
	t.Helper()
	dir, err := os.MkdirTemp("", "probe-squid-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := freeAddress(t)
	for name, text := range map[string]string{"squid.conf": fmt.Sprintf(squidConf, address, dir), "check-password": checkPassword} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { // #nosec G306 -- Squid reads it as its own user
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // #nosec G302 -- likewise
		t.Fatal(err)
	}
	var log bytes.Buffer
	squid := exec.Command("squid", "-N", "-d", "1", "-f", filepath.Join(dir, "squid.conf"))
	squid.Stdout, squid.Stderr, squid.Dir = &log, &log, dir
	if err := squid.Start(); err != nil {
		t.Fatalf("start squid (Debian package squid): %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = squid.Wait() // its state is read below
	}()
	t.Cleanup(func() {
		_ = squid.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = squid.Process.Kill()
			<-ended
		}
	})
	waitForListener(t, address, func() error {
		select {
		case <-ended:
			return fmt.Errorf("squid ended: %s\n%s", squid.ProcessState, log.String())
		default:
			return nil
		}
	})
	return endpoint(t, "http://"+address)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func waitForListener(t *testing.T, address string, failed func() error) {
	t.Helper()
	eventually.Sees(t, "something listens on "+address, time.Minute, func() (bool, string) {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
			return true, ""
		}
		if err := failed(); err != nil {
			t.Fatal(err)
		}
		return false, err.Error()
	})
}

func TestSquid(t *testing.T) {
	squid := startSquid(t)
	plain := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(secure.Close)
	elsewhere := func(u string) string { return strings.Replace(u, "127.0.0.1", "127.0.0.2", 1) }
	nobody := freeAddress(t)
	good, bad := url.UserPassword("robot", "s3cret"), url.UserPassword("robot", "c4nary")

	tests := []struct {
		name string
		url  string
		user *url.Userinfo
		want probe.Verdict
	}{
		{"GET with the right credentials is healthy", plain.URL, good, probe.Healthy},
		{"CONNECT with the right credentials is healthy", secure.URL, good, probe.Healthy},
		{"GET without credentials is auth", plain.URL, nil, probe.Auth},
		{"CONNECT without credentials is auth", secure.URL, nil, probe.Auth},
		{"GET with a wrong password is auth", plain.URL, bad, probe.Auth},
		{"CONNECT with a wrong password is auth", secure.URL, bad, probe.Auth},
		{"a GET that Squid denies is forbidden", elsewhere(plain.URL), good, probe.Forbidden},
		{"a CONNECT that Squid denies is forbidden", elsewhere(secure.URL), good, probe.Forbidden},
		{"a target that refuses a GET is blocked", plain.URL + "/status/403", good, probe.Blocked},
		{"a target that refuses within a tunnel is blocked", secure.URL + "/status/429", good, probe.Blocked},
		{"a GET to nobody is dead", "http://" + nobody, good, probe.Dead},
		{"a CONNECT to nobody is dead", "https://" + nobody, good, probe.Dead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := targetFor(t, squid, tt.url, trusting(secure))
			target.Credentials = tt.user
			r := probe.Probe(t.Context(), target)
			if r.Verdict != tt.want {
				t.Errorf("got %+v, want %s", r, tt.want)
			}
			if r.Verdict == probe.Healthy && r.ExitIP != "127.0.0.1" {
				t.Errorf("exit address %q, want 127.0.0.1", r.ExitIP)
			}
			for _, secret := range []string{"s3cret", "c4nary"} {
				if strings.Contains(r.Message, secret) {
					t.Errorf("message tells the password: %s", r.Message)
				}
			}
		})
	}
}
