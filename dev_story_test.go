package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
	"example.com/fairlead/temporal/wire"
)

// TestTour is the tour of the README.
func TestTour(t *testing.T) {
	s := newStack(t)
	s.start()
	s.kubectl("apply", "-f", "deploy/examples/proxy-process.yaml")
	s.kubectl("wait", "--for=condition=Ready", "proxy/demo", "--timeout=60s")

	lease, proxy := s.borrow(`{"selector":{"region":"local"},"target":"example.test","ttlSeconds":60}`)
	if got := through(t, proxy, s.echo); got != proxy.Hostname() {
		t.Errorf("the echo target sees %s, want the proxy's own address %s", got, proxy.Hostname())
	}
	s.giveBack(lease)
	t.Run("a command runs through a proxy that it borrows", func(t *testing.T) {
		out := s.fairlead("lease", "exec", "--selector", "region=local", "--target", "example.test", "--", "sh", "-c", `echo "$HTTP_PROXY"`)
		if lent, err := url.Parse(strings.TrimSpace(out)); err != nil || through(t, lent, s.echo) != proxy.Hostname() {
			t.Errorf("HTTP_PROXY is %q (%v), want %s", out, err, proxy)
		}
		if out := s.fairlead("lease", "ls", "-o", "json"); strings.Contains(out, proxy.Hostname()) {
			t.Errorf("a lease is left: %s", out)
		}
	})
	t.Run("one place has the metrics of all parts", func(t *testing.T) {
		_, data := s.ask(http.MethodGet, "/metrics", "")
		for _, name := range []string{"controller_runtime_reconcile_total", "healthcheck_duration_seconds", "lease_requests_total"} {
			if !strings.Contains(string(data), "\n"+name) {
				t.Errorf("/metrics lacks %s:\n%s", name, data)
			}
		}
	})
	t.Run("the history reads as a story in the Temporal UI", func(t *testing.T) { s.readHistory(t) })
	t.Run("a second start says what runs", func(t *testing.T) {
		out, err := exec.Command(program, s.flags...).CombinedOutput() // #nosec G204 -- the program under test
		if err == nil || !strings.Contains(string(out), "already running") || !strings.Contains(string(out), s.http) {
			t.Errorf("second start: %v\n%s", err, out)
		}
	})
	s.kubectl("delete", "proxy", "demo", "--timeout=60s")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	s.stop()
}

// readHistory opens the list of workflows, and the run that created demo, in a browser.
// The pictures go to FAIRLEAD_SCREENSHOTS, if it is set.
func (s *stack) readHistory(t *testing.T) {
	dir := os.Getenv("FAIRLEAD_SCREENSHOTS")
	if dir == "" {
		dir = t.TempDir()
	}
	var p crawl.Proxy
	if err := s.client().Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "demo"}, &p); err != nil {
		t.Fatal(err)
	}
	uid := string(p.UID)
	id := "proxy/default/demo/" + uid
	page := s.ui + "/namespaces/default/workflows"
	b := newBrowser(t)
	b.see(page, filepath.Join(dir, "workflows.png"), id)
	b.see(page+"/"+url.PathEscape(id)+"/"+s.firstRun(uid)+"/history", filepath.Join(dir, "history.png"),
		wire.ActivityClaim, wire.ActivityPublish, wire.ActivityCreate, "Continued As New")
}

// TestKillAtAnyMoment kills everything at three moments and starts it again.
func TestKillAtAnyMoment(t *testing.T) {
	s := newStack(t)
	s.start()
	c := s.client()
	key := types.NamespacedName{Namespace: "default", Name: "victim"}
	get := func() *crawl.Proxy {
		var p crawl.Proxy
		if err := c.Get(t.Context(), key, &p); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return &p
	}
	converges := func(t *testing.T) {
		t.Helper()
		s.start()
		c = s.client()
		eventually.Sees(t, "Ready again", 3*time.Minute, func() (bool, string) {
			p := get()
			return p.Status.Phase == crawl.PhaseReady && p.Status.ObservedGeneration == p.Generation, fmt.Sprintf("%+v", p.Status)
		})
		if got := s.processes(); len(got) != 1 {
			t.Errorf("processes = %v, want one", got)
		}
		p := get()
		proxy := &url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", p.Status.IP, p.Status.Port)}
		if got := through(t, proxy, s.echo); got != p.Status.IP {
			t.Errorf("the echo target sees %s, want %s", got, p.Status.IP)
		}
	}

	t.Run("while the instance is created", func(t *testing.T) {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "victim"}, Spec: crawl.ProxySpec{
			Provider: "process", HealthCheck: &crawl.HealthCheck{Interval: &metav1.Duration{Duration: 2 * time.Second}},
		}}
		w := s.watchProxies()
		if err := c.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		await(t, w, "an attempt to create the instance", func(p *crawl.Proxy) bool {
			return slices.ContainsFunc(p.Status.Instances, func(r crawl.InstanceRecord) bool { return r.AttemptUntil != nil })
		})
		s.kill()
		converges(t)
	})
	t.Run("while the instance is replaced", func(t *testing.T) {
		p := get()
		p.Spec.Port = 3300
		w := s.watchProxies()
		if err := c.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		await(t, w, "the replacement", func(p *crawl.Proxy) bool {
			return p.Status.Phase == crawl.PhaseReplacing || p.Status.Phase == crawl.PhaseProvisioning
		})
		s.kill()
		converges(t)
	})
	t.Run("while the object is deleted", func(t *testing.T) {
		if err := c.Delete(t.Context(), get()); err != nil {
			t.Fatal(err)
		}
		s.kill()
		s.start()
		c = s.client()
		eventually.Sees(t, "the object is gone", 3*time.Minute, func() (bool, string) {
			p := get()
			return p.Name == "", fmt.Sprintf("%+v", p.Status)
		})
		if left := s.processes(); len(left) > 0 {
			t.Errorf("processes left behind: %v", left)
		}
	})
}

// TestDeathOfAPartEndsTheRestSoon kills etcd while activities are about to ask the
// API server, which answers nothing without it.
func TestDeathOfAPartEndsTheRestSoon(t *testing.T) {
	s := newStack(t)
	s.start()
	c := s.client()
	etcd := s.children()["etcd"]
	w := s.watchProxies()
	for i := range 8 {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p%d", i)}, Spec: crawl.ProxySpec{Provider: "process"}}
		if err := c.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, w, "workflows at work", func(p *crawl.Proxy) bool { return p.Status.Phase != "" })
	if err := syscall.Kill(etcd, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	const soon = 10 * time.Second
	select {
	case <-s.ended:
	case <-time.After(soon):
		t.Fatalf("fairlead dev has not ended after %s\n%s", soon, s.out)
	}
	if out := s.out.String(); s.err == nil || !strings.Contains(out, "etcd ended unexpectedly (signal: killed)") || strings.Contains(out, `{"level"`) {
		t.Errorf("it ended with %v and said\n%s", s.err, out)
	}
}

func TestNamespaceWithProxiesIsDeleted(t *testing.T) {
	s := newStack(t)
	s.start()
	c := s.client()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: fmt.Sprintf("p%d", i)}, Spec: crawl.ProxySpec{Provider: "process"}}
		if err := c.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	external := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "external"}, Spec: crawl.ProxySpec{
		Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: "127.0.0.1", Port: 1},
	}}
	if err := c.Create(t.Context(), external); err != nil {
		t.Fatal(err)
	}
	eventually.Sees(t, "five processes", time.Minute, func() (bool, string) { return len(s.processes()) == 5, fmt.Sprint(s.processes()) })
	if err := c.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	eventually.Sees(t, "the namespace is gone", 2*time.Minute, func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(ns), ns)
		return apierrors.IsNotFound(err), fmt.Sprintf("%+v", ns.Status)
	})
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}
