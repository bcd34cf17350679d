package server

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"example.com/fairlead/api/lease"
)

// targetsFile is the content of a targets file.
type targetsFile struct {
	Targets []targetEntry `yaml:"targets"`
}

type targetEntry struct {
	Target            string  `yaml:"target"`
	PerProxyPerMinute float64 `yaml:"perProxyPerMinute"`

	line int
}

// UnmarshalYAML is strict: the decoder's own way to be tells people of Go types.
func (f *targetsFile) UnmarshalYAML(n *yaml.Node) error {
	type plain targetsFile
	return firstOf(onlyFields(n, "the file", "targets"), n.Decode((*plain)(f)))
}

// UnmarshalYAML is strict, and keeps the line.
func (e *targetEntry) UnmarshalYAML(n *yaml.Node) error {
	type plain targetEntry
	e.line = n.Line
	return firstOf(onlyFields(n, "an entry of targets", "target", "perProxyPerMinute"), n.Decode((*plain)(e)))
}

// onlyFields refuses what is no object, or has other fields.
func onlyFields(n *yaml.Node, what string, fields ...string) error {
	known := strings.Join(fields, " and ")
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %s has the fields %s", n.Line, what, known)
	}
	for i := 0; i < len(n.Content); i += 2 { // keys, and values between them
		if key := n.Content[i]; !slices.Contains(fields, key.Value) {
			return fmt.Errorf("line %d: unknown field %q: %s has %s", key.Line, key.Value, what, known)
		}
	}
	return nil
}

// Targets are the budgets of a targets file, which is read again when it changes.
type Targets struct {
	file watched[[]lease.Budget]
}

// OpenTargets reads the targets file at path.
func OpenTargets(path string, log *slog.Logger, c clock.PassiveClock) (*Targets, error) {
	t := &Targets{watched[[]lease.Budget]{kind: "targets file", path: path, parse: parseTargets, log: log, clock: c}}
	return t, t.file.open()
}

// Follow tells the budgets, and tells them again when they change, until ctx ends.
func (t *Targets) Follow(ctx context.Context, tell func([]lease.Budget)) {
	look := time.NewTicker(recheckAfter)
	defer look.Stop()
	budgets, changed := t.file.current()
	for told := false; ; budgets, changed = t.file.current() {
		if changed || !told {
			told = true
			tell(budgets)
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

func parseTargets(data []byte) ([]lease.Budget, error) {
	var f targetsFile
	if err := yaml.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("it must be YAML of the form targets: [{target, perProxyPerMinute}]: %w", err)
	}
	if len(f.Targets) == 0 { // nothing but comments
		return nil, nil
	}
	budgets := make([]lease.Budget, len(f.Targets))
	seen := map[string]int{}
	for i, t := range f.Targets {
		target, err := hostOf(t.Target)
		switch before, twice := seen[target]; {
		case err != nil:
			return nil, fmt.Errorf("line %d: target %w", t.line, err)
		case target == "":
			return nil, fmt.Errorf("line %d: target must be a host, such as shop.example", t.line)
		case twice:
			return nil, fmt.Errorf("line %d: target %s has a budget in line %d already: remove one", t.line, target, before)
		case !(t.PerProxyPerMinute > 0) || math.IsInf(t.PerProxyPerMinute, 1):
			return nil, fmt.Errorf("line %d: perProxyPerMinute of %s must be a number above 0", t.line, target)
		}
		seen[target] = t.line
		budgets[i] = lease.Budget{Target: target, PerProxyPerMinute: t.PerProxyPerMinute}
	}
	return budgets, nil
}
