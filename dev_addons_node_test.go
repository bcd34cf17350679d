//go:build node

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// TestNodeRunsTheHooksOfAnAddon lives an add-on from its install to its uninstall, with hooks
// whose pods run.
func TestNodeRunsTheHooksOfAnAddon(t *testing.T) {
	localtest.Alone(t)
	s := newStack(t)
	s.flags = append(s.flags, "--node", "--node-subnet=78")
	s.start()
	url, _ := chartRepository(t, "testdata/bakery")
	write(t, s.dir, map[string]string{"bakery.yaml": `
apiVersion: rendimiento.ai/v1alpha1
kind: Addon
metadata: {name: bakery}
spec: {namespace: bakery, createNamespace: true, prune: true, source: {helm: {repo: "` + url + `", chart: bakery, version: ^1.0}}}
`})
	s.kubectl("apply", "-f", s.dir+"/bakery.yaml")
	s.hookEnds("open", "failed: BackoffLimitExceeded", "there is no licence")
	for _, kind := range []string{"role", "rolebinding", "serviceaccount"} {
		if left := s.kubectl("-n", "bakery", "get", kind, "builder", "-o", "name", "--ignore-not-found"); left != "" {
			t.Errorf("what the first hook needed is left: %s", left)
		}
	}
	if ready := s.kubectl("get", "radd", "bakery", `-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}`); ready != "False" {
		t.Errorf("a hook has failed, and the condition Ready is %s", ready)
	}

	s.kubectl("-n", "bakery", "create", "configmap", "licence", "--from-literal=number=42")
	s.fairlead("addon", "sync", "bakery", "--wait") // sooner than by itself
	s.kubectl("wait", "--for=condition=Ready", "radd/bakery", "--timeout=60s")
	if health := s.kubectl("get", "radd", "bakery", "-o", "jsonpath={.status.health.status}"); health != wire.Healthy {
		t.Errorf("the health of what runs is %s", health)
	}

	s.kubectl("patch", "radd", "bakery", "--type=merge", `--patch={"spec":{"values":"sells: cake"}}`)
	s.hookEnds("count", "from now on cake")
	s.kubectl("-n", "bakery", "wait", "--for=delete", "job/count", "--timeout=60s") // as its TTL says
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Synced", "radd/bakery", "--timeout=60s")
	s.kubectl("wait", "--for=condition=Ready", "radd/bakery", "--timeout=60s")

	runs := s.kubectl("get", "radd", "bakery", `-o=jsonpath={range .status.hookRuns[?(@.kind=="Job")]}{.event} {.name} {.status}{"\n"}{end}`)
	want := "pre-install build succeeded\npost-install open failed\npost-install open succeeded\npre-upgrade count succeeded"
	if strings.TrimSpace(runs) != want {
		t.Errorf("the hooks ran\n%s\nwant\n%s", runs, want)
	}

	s.fairlead("addon", "uninstall", "bakery", "--yes")
	s.kubectl("wait", "--for=delete", "radd/bakery", "--timeout=60s")
	for _, kind := range []string{"deployment/shop", "job/close"} {
		if left := s.kubectl("-n", "bakery", "get", kind, "-o", "name", "--ignore-not-found"); left != "" {
			t.Errorf("the uninstall has left %s", left)
		}
	}
	s.stop()
}

// hookEnds waits until the status tells of a Job that it has ended, in these words.
func (s *stack) hookEnds(job string, words ...string) {
	s.t.Helper()
	eventually.Sees(s.t, fmt.Sprintf("hook %s says %q", job, words), 2*time.Minute, func() (bool, string) {
		says := s.kubectl("get", "radd", "bakery", `-o=jsonpath={.status.hookRuns[?(@.name=="`+job+`")].message}`)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(says, w) }), says
	})
}
