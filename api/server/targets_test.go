package server_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"example.com/fairlead/api/lease"
	"example.com/fairlead/api/server"
	"example.com/fairlead/internal/eventually"
)

func contains(text, line string) bool { return strings.Contains(text, line+"\n") }

func targetsFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "targets.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// budgets are those of a targets file.
func (w *world) budgets(t *testing.T, content string) {
	t.Helper()
	targets, err := server.OpenTargets(targetsFile(t, content), w.options.Log, w.clock)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	targets.Follow(ctx, w.options.Desk.SetBudgets)
}

func TestTargetsFile(t *testing.T) {
	w := newIdleWorld(t)
	for name, tt := range map[string]struct{ content, says string }{
		"not YAML":              {"targets: [", "must be YAML"},
		"unknown field":         {"targets:\n- target: a.example\n  perProxyPerHour: 1\n", `line 3: unknown field "perProxyPerHour": an entry of targets has target and perProxyPerMinute`},
		"unknown list":          {"target:\n- target: a.example\n", `line 1: unknown field "target": the file has targets`},
		"a target alone":        {"targets:\n- a.example\n", "line 2: an entry of targets has the fields target and perProxyPerMinute"},
		"a list alone":          {"- target: a.example\n", "line 1: the file has the fields targets"},
		"field given twice":     {"targets:\n- target: a.example\n  target: b.example\n", "line 3"},
		"a word for a number":   {"targets:\n- {target: a.example, perProxyPerMinute: many}\n", "line 2"},
		"no target":             {"targets:\n- {target: a.example, perProxyPerMinute: 1}\n- {perProxyPerMinute: 1}\n", "line 3: target"},
		"a target with a space": {"targets:\n- {target: a b, perProxyPerMinute: 1}\n", "line 2: target"},
		"a URL":                 {"targets:\n- {target: 'https://shop.example/', perProxyPerMinute: 1}\n", `line 2: target "https://shop.example/" is no host`},
		"an address twice":      {"targets:\n- {target: '[::1]:443', perProxyPerMinute: 1}\n- {target: '::1', perProxyPerMinute: 1}\n", "line 3: target ::1 has"},
		"no budget":             {"targets:\n- {target: a.example}\n", "line 2: perProxyPerMinute of a.example"},
		"a budget below 0":      {"targets:\n- {target: a.example, perProxyPerMinute: -1}\n", "line 2: perProxyPerMinute"},
		"a budget without end":  {"targets:\n- {target: a.example, perProxyPerMinute: .inf}\n", "line 2: perProxyPerMinute"},
		"no number":             {"targets:\n- {target: a.example, perProxyPerMinute: .nan}\n", "line 2: perProxyPerMinute"},
		"target given twice":    {"targets:\n- {target: a.example, perProxyPerMinute: 1}\n- {target: A.example., perProxyPerMinute: 1}\n", "line 3: target a.example has a budget in line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := targetsFile(t, tt.content)
			if _, err := server.OpenTargets(path, w.options.Log, w.clock); err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error with %q and the file", err, tt.says)
			}
		})
	}
	t.Run("a file that is missing is an error", func(t *testing.T) {
		if _, err := server.OpenTargets(filepath.Join(t.TempDir(), "none"), w.options.Log, w.clock); err == nil {
			t.Error("no error")
		}
	})
}

func TestTargetsFileIsReadAgain(t *testing.T) {
	w := newIdleWorld(t)
	path := targetsFile(t, "targets: [{target: Shop.Example, perProxyPerMinute: 1.5}]")
	targets, err := server.OpenTargets(path, w.options.Log, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var told [][]lease.Budget
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		targets.Follow(ctx, func(b []lease.Budget) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, b)
		})
	}()
	defer func() { cancel(); <-ended }()
	written := 0
	write := func(content string) {
		t.Helper()
		written++
		at := time.Now().Add(time.Duration(written) * time.Second) // two writes may share a tick of the file system's clock
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("targets: [{target: '', perProxyPerMinute: 1}]")
	eventually.Until(t, "the log says what is wrong", func() bool { return w.logs("line 1: target must be a host") })
	write("# none any more")
	eventually.Until(t, "the budgets are gone", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told) == 2
	})
	if diff := cmp.Diff([][]lease.Budget{{{Target: "shop.example", PerProxyPerMinute: 1.5}}, nil}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
