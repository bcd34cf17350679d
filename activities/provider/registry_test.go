package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/internal/eventually"
)

// named is a provider that only knows what it was built from.
type named struct {
	Provider
	name, settings string
}

func builders() map[string]Builder {
	build := func(name string, settings json.RawMessage) (Provider, error) {
		var s struct {
			Dir string `json:"dir"`
		}
		if err := DecodeSettings(settings, &s); err != nil {
			return nil, err
		}
		return &named{name: name, settings: s.Dir}, nil
	}
	return map[string]Builder{"process": build, "kubernetes": build}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

func providersFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "providers.yaml")
	write(t, path, content)
	return path
}

const twoProviders = `
providers:
  - name: local
    type: process
    process: {dir: /state}
  - name: squid
    type: kubernetes
`

func TestLoadKnowsWhatTheFileNames(t *testing.T) {
	r, err := Load(providersFile(t, twoProviders), builders(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"local", "squid"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if local, lokal := r.Type("local"), r.Type("lokal"); local != "process" || lokal != "" {
		t.Errorf("the types are %q and %q", local, lokal)
	}
	if local, squid := r.Config("local"), r.Config("squid"); local == "" || local == squid || r.Config("lokal") != "" {
		t.Errorf("the configurations are %q and %q", local, squid)
	}
	p, err := r.Get("local")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.(*named).settings; got != "/state" {
		t.Errorf("local was built with dir %q", got)
	}
	_, err = r.Get("lokal")
	if !errors.Is(err, ErrUnknownProvider) || !strings.Contains(err.Error(), `"lokal"`) || !strings.Contains(err.Error(), "local, squid") {
		t.Errorf("the error of an unknown name is %v", err)
	}
}

func TestNamesNeedNoSettings(t *testing.T) {
	path := providersFile(t, "providers: [{name: far, type: kubernetes, kubernetes: {kubeconfig: /not/on/this/machine}}]")
	r, err := Load(path, NamesOnly("process", "kubernetes"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"far"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ content, says string }{
		"an empty file":               {"", `no list "providers"`},
		"a file that is no YAML":      {"providers: [", "yaml"},
		"an unknown field at the top": {"providers: []\nfoo: 1\n", `"foo"`},
		"a key given twice":           {"providers: []\nproviders: []\n", "already set"},
		"an entry without a name":     {"providers: [{type: process}]", "entry 1: name is missing"},
		"an entry without a type":     {"providers: [{name: a}]", `provider "a" (entry 1): type is missing`},
		"a name that is no label":     {"providers: [{name: A_b, type: process}]", "lowercase"},
		"a name that is no text":      {"providers: [{name: 1, type: process}]", "name must be a text, not 1"},
		"a name that a sweep has":     {"providers: [{name: objects, type: process}]", "reserved for a sweep"},
		"an unknown type":             {"providers: [{name: a, type: ec2}]", `unknown type "ec2": the types are kubernetes, process`},
		"a duplicate name":            {"providers: [{name: a, type: process}, {name: a, type: kubernetes}]", "(entry 2): the name is used twice"},
		"the block of another type":   {"providers: [{name: a, type: process, kubernetes: {}}]", `unknown field "kubernetes": a provider of type process has the fields name, type, process`},
		"an unknown setting":          {"providers: [{name: a, type: process, process: {dirr: x}}]", `"dirr"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := providersFile(t, test.content)
			_, err := Load(path, builders(), slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range []string{path, test.says} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error %q does not say %q", err, want)
				}
			}
		})
	}
}

// logbook collects what is logged.
type logbook struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logbook) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.String(), what)
}

func TestFollow(t *testing.T) {
	path := providersFile(t, twoProviders)
	var log logbook
	r, err := Load(path, builders(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r.every = 10 * time.Millisecond
	changed := r.Changed()
	ctx, cancel := context.WithCancel(t.Context())
	var followed sync.WaitGroup
	followed.Go(func() {
		if err := r.Follow(ctx); err != nil {
			t.Errorf("follow: %v", err)
		}
	})
	defer followed.Wait()
	defer cancel()
	local, err := r.Get("local")
	if err != nil {
		t.Fatal(err)
	}

	write(t, path, "providers: [{name: a, type: ec2}]")
	eventually.Until(t, "an invalid file is told", func() bool { return log.count("unknown type") > 0 })
	if diff := cmp.Diff([]string{"local", "squid"}, r.Names()); diff != "" {
		t.Errorf("an invalid file changed the providers (-want +got):\n%s", diff)
	}
	if r.Certain() {
		t.Error("an invalid file is taken for certain")
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	eventually.Until(t, "a file that is gone is told", func() bool { return log.count("read providers file") > 0 })
	if r.Certain() {
		t.Error("a file that is gone is taken for certain")
	}

	write(t, path, "# a comment changes nothing\n"+twoProviders)
	eventually.Until(t, "a mended file is told", func() bool { return log.count("good again") > 0 })
	if !r.Certain() {
		t.Error("a mended file is not taken for certain")
	}
	if n := log.count("unknown type"); n != 1 {
		t.Errorf("the invalid file was told %d times", n)
	}
	select {
	case <-changed:
		t.Error("a file with the same providers was told as a change")
	default:
	}

	write(t, path, strings.Replace(twoProviders, "name: squid", "name: pods", 1))
	<-changed
	if diff := cmp.Diff([]string{"local", "pods"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if again, err := r.Get("local"); err != nil || again != local {
		t.Errorf("an entry that did not change got another provider (%v)", err)
	}

	write(t, path, fmt.Sprintf("providers: [{name: local, type: process, process: {dir: %s}}]", "/other"))
	<-changed
	if again, err := r.Get("local"); err != nil || again == local || again.(*named).settings != "/other" {
		t.Errorf("an edited entry kept its provider (%v)", err)
	}
}
