package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"example.com/fairlead/internal/eventually"
)

// TestTourOfAddons is the tour of docs/addons.md.
func TestTourOfAddons(t *testing.T) {
	s := newStack(t)
	s.flags = append(s.flags, "--addon-sweep-interval=2s")
	s.start()
	s.kubectl("apply", "-f", s.example("addon-chart.yaml"), "-f", s.example("addon-folder.yaml"))
	s.kubectl("wait", "--for=condition=Ready", "radd/hello", "radd/team", "--timeout=60s")
	if got := s.kubectl("-n", "hello", "get", "configmap", "hello", "-o", "jsonpath={.data.greeting}"); got != "Good morning from hello" {
		t.Errorf("the greeting is %q", got)
	}
	before := s.rules()
	if len(before) != 1 {
		t.Fatalf("the ConfigMaps of the folder are %v, want one", before)
	}
	t.Run("a drift is healed", func(t *testing.T) {
		s.kubectl("-n", "hello", "patch", "configmap", "hello", "--type=merge", `--patch={"data":{"greeting":"drifted"}}`)
		eventually.Until(t, "the greeting is back", func() bool {
			return s.kubectl("-n", "hello", "get", "configmap", "hello", "-o", "jsonpath={.data.greeting}") == "Good morning from hello"
		})
	})
	t.Run("a commit is applied, and what it no longer has is pruned", func(t *testing.T) {
		commitExample(t, filepath.Join(s.dir, "examples", "repository"), "team/rules.txt", "other rules\n")
		eventually.Until(t, "there is another ConfigMap, and that one only", func() bool {
			now := s.rules()
			return len(now) == 1 && now[0] != before[0]
		})
	})
	t.Run("an uninstall leaves the namespace", func(t *testing.T) {
		s.kubectl("annotate", "radd", "hello", "rendimiento.ai/uninstall=true")
		s.kubectl("delete", "radd", "hello", "--timeout=60s")
		if left := s.kubectl("-n", "hello", "get", "configmap,service,serviceaccount", "-l", "app.kubernetes.io/name=hello", "-o", "name"); left != "" {
			t.Errorf("these are left: %s", left)
		}
		s.kubectl("get", "namespace", "hello")
	})
	s.stop()
}

// example is an Addon object that the stack has written.
func (s *stack) example(name string) string { return filepath.Join(s.dir, "examples", name) }

// rules are the ConfigMaps that the folder of the examples makes.
func (s *stack) rules() []string {
	s.t.Helper()
	names := strings.Fields(s.kubectl("-n", "team", "get", "configmap", "-o", "name"))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "configmap/rules-") })
}

func commitExample(t *testing.T, repository, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(repository, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := git.PlainOpen(repository)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := opened.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	someone := &object.Signature{Name: "Someone", Email: "someone@localhost", When: time.Now()}
	if _, err := tree.Commit("change "+file, &git.CommitOptions{All: true, Author: someone}); err != nil {
		t.Fatal(err)
	}
}
