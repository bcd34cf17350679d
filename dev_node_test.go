//go:build node

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"example.com/fairlead/deploy/local/localtest"
)

// TestNodeRunsTheSquidExample is the tour of the README with pods.
func TestNodeRunsTheSquidExample(t *testing.T) {
	localtest.Alone(t)
	const subnet = 79
	s := newStack(t)
	s.flags = append(s.flags, "--node", fmt.Sprintf("--node-subnet=%d", subnet))
	s.start()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.echo, "http://"), ":")
	echo := fmt.Sprintf("http://10.200.%d.2:%s", subnet, port)
	if !strings.Contains(s.out.String(), "for pods     "+echo+"\n") {
		t.Errorf("it does not say that pods find the echo target at %s:\n%s", echo, s.out)
	}

	s.apply("deploy/examples/proxy-squid.yaml", "http://10.200.0.2:8085", echo)
	s.kubectl("wait", "--for=condition=Ready", "proxy/squid", "--timeout=120s")
	lease, proxy := s.borrow(`{"selector":{"kind":"pod"},"target":"example.test","ttlSeconds":60}`)
	if got := through(t, proxy, echo); got != proxy.Hostname() {
		t.Errorf("the echo target sees %s, want the address of the pod, %s", got, proxy.Hostname())
	}
	s.giveBack(lease)
	s.kubectl("delete", "proxy", "squid", "--timeout=60s")
	if left := s.kubectl("get", "pods", "--output=name"); left != "" {
		t.Errorf("pods are left: %s", left)
	}
	s.stop()
	if out, err := exec.Command("ip", "route", "show", fmt.Sprintf("10.244.%d.0/24", subnet)).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a route to pods is left: %s%v", out, err)
	}
}
