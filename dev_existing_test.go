package main

import (
	"net/http"
	"net/url"
	"os/exec"
	"testing"

	"example.com/fairlead/deploy/local/localtest"
)

// TestStackOnWhatIsThereAlready runs on a control plane, on a Temporal and with a
// proxy of others.
func TestStackOnWhatIsThereAlready(t *testing.T) {
	s := newStack(t)
	s.kubeconfig = localtest.Kubeconfig(t, localtest.ControlPlane(t))
	temporal, namespace := localtest.Temporal(t)
	s.flags = append(s.flags, "--kubeconfig", s.kubeconfig, "--temporal-address", temporal, "--temporal-namespace", namespace)
	s.start()
	if parts := s.children(); len(parts) > 0 {
		t.Errorf("it started %v", parts)
	}
	others := startProxy(t)

	s.kubectl("apply", "-f", "deploy/examples/proxy-process.yaml")
	s.apply("deploy/examples/proxy-external.yaml", "8888", others.Port())
	for name, region := range map[string]string{"demo": "local", "external": "elsewhere"} {
		s.kubectl("wait", "--for=condition=Ready", "proxy/"+name, "--timeout=60s")
		lease, proxy := s.borrow(`{"selector":{"region":"` + region + `"},"ttlSeconds":60}`)
		if got := through(t, proxy, s.echo); got != proxy.Hostname() {
			t.Errorf("the echo target sees %s, want the address of %s, %s", got, name, proxy.Hostname())
		}
		if external := proxy.Host == others.Host; external != (name == "external") {
			t.Errorf("lent for %s was %s", name, proxy)
		}
		s.giveBack(lease)
		s.kubectl("delete", "proxy", name, "--timeout=60s")
	}
	if got := through(t, others, s.echo); got != "127.0.0.1" {
		t.Errorf("after the deletion, the proxy of others answers %s", got)
	}
	s.stop()
	s.kubectl("get", "namespace", "default") // it answers as before
}

// startProxy runs a forward proxy that nobody manages, until the test ends.
func startProxy(t *testing.T) *url.URL {
	t.Helper()
	address := freeAddresses(t, 1)[0]
	cmd := exec.Command(program, "proxy", "--listen", address) // #nosec G204 -- the program under test
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the kill is its error
	})
	becomes(t, "http://"+address, http.StatusBadRequest) // it is no web server
	return &url.URL{Scheme: "http", Host: address}
}
