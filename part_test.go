package main

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/deploy/local/ports"
	"example.com/fairlead/internal/eventually"
)

// part is one part of an installation, in a process of its own.
type part struct {
	metrics, health string
	out             *output
}

func startPart(t *testing.T, name string, config *rest.Config, temporal, namespace string, args ...string) part {
	t.Helper()
	free := freeAddresses(t, 2)
	p := part{metrics: free[0], health: free[1]}
	p.out = launchPart(t, name, config, temporal, namespace, append([]string{"--metrics-address", p.metrics, "--health-address", p.health}, args...)...)
	return p
}

// launchPart runs a part until the test ends.
func launchPart(t *testing.T, name string, config *rest.Config, temporal, namespace string, args ...string) *output {
	t.Helper()
	args = append([]string{
		name, "--kubeconfig", localtest.Kubeconfig(t, config), "--temporal-address", temporal, "--temporal-namespace", namespace,
	}, args...)
	out := &output{ready: make(chan struct{})}
	cmd := exec.Command(program, args...) // #nosec G204 -- the program under test
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kill := time.AfterFunc(downTimeout, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("fairlead %s ended with %v\n%s", name, err, out)
		}
	})
	return out
}

func (p part) becomes(t *testing.T, path string, want int) {
	t.Helper()
	becomes(t, "http://"+p.health+path, want)
}

func (p part) measures(t *testing.T, series ...string) {
	t.Helper()
	for _, name := range series {
		eventually.Sees(t, "/metrics has "+name, 30*time.Second, func() (bool, string) {
			_, body := get("http://" + p.metrics + "/metrics")
			return strings.Contains(body, "\n"+name), body
		})
	}
}

// becomes waits until a request is answered so.
func becomes(t *testing.T, url string, want int) {
	t.Helper()
	eventually.Sees(t, fmt.Sprintf("%s answers %d", url, want), time.Minute, func() (bool, string) {
		code, body := get(url)
		return code == want, fmt.Sprint(code, " ", body)
	})
}

// get gives the answer to a request, or why there is none.
func get(url string) (code int, body string) {
	resp, err := http.Get(url) // #nosec G107 -- on loopback
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(data)
}

// someProviders is the path of a providers file.
func someProviders(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.yaml")
	if err := writeDefaultProviders(file, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return file
}

// freeAddresses are some that nobody else listens on.
func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	free, err := ports.Reserve(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free.Release)
	var addresses []string
	for _, p := range free.Ports {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", p))
	}
	return addresses
}
