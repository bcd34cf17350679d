package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	temporalclient "go.temporal.io/sdk/client"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
)

func (s *stack) client() client.WithWatch {
	s.t.Helper()
	config, err := kube.Load(s.kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	return localtest.Client(s.t, config)
}

// watchProxies follows the Proxies of namespace default; nothing that happens after
// it returned is missed, however short.
func (s *stack) watchProxies() watch.Interface {
	s.t.Helper()
	w, err := s.client().Watch(s.t.Context(), &crawl.ProxyList{}, client.InNamespace("default"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(w.Stop)
	return w
}

// await returns at the moment at which a Proxy is as wanted.
func await(t *testing.T, w watch.Interface, what string, wanted func(*crawl.Proxy) bool) {
	t.Helper()
	var last crawl.ProxyStatus
	deadline := time.After(30 * time.Second)
	for {
		select {
		case e, open := <-w.ResultChan():
			p, ok := e.Object.(*crawl.Proxy)
			if !open || !ok {
				t.Fatalf("the watch ended with %v while waiting for %s; last seen: %+v", e.Object, what, last)
			}
			if wanted(p) {
				return
			}
			last = p.Status
		case <-deadline:
			t.Fatalf("not within 30s: %s; last seen: %+v", what, last)
		}
	}
}

// processes are the forward proxies that run for this stack.
func (s *stack) processes() []string {
	s.t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		data, err := os.ReadFile(e) // #nosec G304 -- of /proc
		if err != nil {
			continue // it ended
		}
		words := strings.ReplaceAll(string(data), "\x00", " ")
		if strings.Contains(words, " proxy ") && strings.Contains(words, s.dir) {
			found = append(found, strings.TrimSuffix(filepath.Dir(e), "/")+" "+words)
		}
	}
	return found
}

// temporal connects to the stack's Temporal.
func (s *stack) temporal() temporalclient.Client {
	s.t.Helper()
	var address string
	for _, f := range s.flags {
		if port, ok := strings.CutPrefix(f, "--temporal-port="); ok {
			address = "127.0.0.1:" + port
		}
	}
	return localtest.DialTemporal(s.t, address, temporalclient.DefaultNamespace)
}

// firstRun is the run in which the instance of the Proxy was created.
func (s *stack) firstRun(uid string) string {
	s.t.Helper()
	run, err := s.temporal().DescribeWorkflow(s.t.Context(), "proxy/default/demo/"+uid, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return run.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId()
}
