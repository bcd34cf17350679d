package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/internal/eventually"
)

// TestTroublesAreToldWithARemedy has troubles one after the other, each followed by
// what its message says.
func TestTroublesAreToldWithARemedy(t *testing.T) {
	s := newStack(t)
	s.program = filepath.Join(t.TempDir(), "fairlead")
	install(t, program, s.program)
	s.start()
	f := newFleet(s)

	t.Run("an unknown provider", func(t *testing.T) {
		f.t = t
		f.create("stranger", "nowhere")
		f.becomes("stranger", crawl.PhaseWaiting, "ProviderUnavailable", `unknown provider "nowhere"`, f.file, "process, squid")
		f.provide("nowhere", 0)
		f.becomes("stranger", crawl.PhaseReady, "Ready")
	})
	t.Run("a full provider", func(t *testing.T) {
		f.t = t
		f.provide("small", 1)
		f.create("first", "small")
		f.becomes("first", crawl.PhaseReady, "Ready")
		f.create("second", "small")
		f.becomes("second", crawl.PhaseWaiting, "QuotaExceeded", "1 of 1 instances exist", "raise process.maxInstances")
		f.provide("small", 2)
		f.becomes("second", crawl.PhaseReady, "Ready")
	})
	t.Run("a proxy program that dies at once", func(t *testing.T) {
		f.t = t
		broken := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'this build is broken'\nexit 3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		install(t, broken, s.program)
		f.create("stillborn", "process")
		f.becomes("stillborn", crawl.PhaseProvisioning, "TransientError", "its process died at once (exit status 3)", "the log says: this build is broken")
		install(t, program, s.program)
		f.becomes("stillborn", crawl.PhaseReady, "Ready")
	})
}

// install puts a program in the place of another, which may be running.
func install(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from) // #nosec G304 -- of the test
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to+".new", data, 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		t.Fatal(err)
	}
}

// fleet is the Proxies of a stack and their providers.
type fleet struct {
	t      *testing.T
	client client.Client
	// file is the providers file, and former what it says without ours.
	file, former string
	// extra are ours, by name, with their maxInstances.
	extra map[string]int
	dir   string
}

func newFleet(s *stack) *fleet {
	s.t.Helper()
	f := &fleet{t: s.t, client: s.client(), file: filepath.Join(s.dir, "providers.yaml"), extra: map[string]int{}, dir: s.t.TempDir()}
	data, err := os.ReadFile(f.file)
	if err != nil {
		s.t.Fatal(err)
	}
	f.former = string(data)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
		defer cancel()
		for name := range f.extra {
			if err := endProxies(ctx, filepath.Join(f.dir, name)); err != nil {
				s.t.Error(err)
			}
		}
	})
	return f
}

// provide writes a provider of processes into the providers file.
func (f *fleet) provide(name string, maxInstances int) {
	f.t.Helper()
	f.extra[name] = maxInstances
	text := f.former
	for name, bound := range f.extra {
		text += fmt.Sprintf("  - {name: %s, type: process, process: {stateDir: %s, maxInstances: %d}}\n", name, proxiesDir(filepath.Join(f.dir, name)), bound)
	}
	if err := os.WriteFile(f.file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) create(name, provider string) {
	f.t.Helper()
	p := &crawl.Proxy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: crawl.ProxySpec{
		Provider: provider, HealthCheck: &crawl.HealthCheck{Interval: &metav1.Duration{Duration: time.Second}},
	}}
	if err := f.client.Create(f.t.Context(), p); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) get(name string) *crawl.Proxy {
	f.t.Helper()
	var p crawl.Proxy
	if err := f.client.Get(f.t.Context(), types.NamespacedName{Namespace: "default", Name: name}, &p); err != nil {
		f.t.Fatal(err)
	}
	return &p
}

// becomes waits for a phase, and for a Ready condition with the reason and the words.
func (f *fleet) becomes(name string, phase crawl.Phase, reason string, words ...string) {
	f.t.Helper()
	eventually.Sees(f.t, fmt.Sprintf("%s is %s (%s: %v)", name, phase, reason, words), 2*time.Minute, func() (bool, string) {
		p := f.get(name)
		c := p.Status.Condition(crawl.ConditionReady)
		ok := p.Status.Phase == phase && c != nil && c.Reason == reason
		for _, w := range words {
			ok = ok && strings.Contains(c.Message, w)
		}
		return ok, fmt.Sprintf("%+v", p.Status)
	})
}

// TestAFleetOfAnotherClusterIsTakenOver runs the same state under another identity, where
// nothing is touched, and then under the former one, as after a backup was restored.
func TestAFleetOfAnotherClusterIsTakenOver(t *testing.T) {
	s := newStack(t)
	s.start()
	s.kubectl("apply", "-f", "deploy/examples/proxy-process.yaml")
	s.kubectl("wait", "--for=condition=Ready", "proxy/demo", "--timeout=60s")
	former := s.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	processes := s.processes()
	s.stop()

	own := s.flags
	s.flags = append(slices.Clone(own), "--cluster-id", "another")
	s.start()
	s.kubectl("annotate", "proxy", "demo", "crawl.example.com/replace=now")
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Waiting", "proxy/demo", "--timeout=60s")
	if told := s.kubectl("get", "proxy", "demo", "-o", "jsonpath={.status.conditions[0].message}"); !strings.Contains(told, "--cluster-id="+former) {
		t.Errorf("the remedy is not told: %s", told)
	}
	if now := s.processes(); !slices.Equal(now, processes) {
		t.Errorf("in another cluster, the processes are %v, were %v", now, processes)
	}
	s.stop()

	s.flags = append(slices.Clone(own), "--cluster-id", former)
	s.start()
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Ready", "proxy/demo", "--timeout=60s")
	s.kubectl("delete", "proxy", "demo", "--timeout=60s")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	s.stop()
}
