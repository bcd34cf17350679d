package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"example.com/fairlead/api/lease"
)

// targetsFile is the content of a targets file.
type targetsFile struct {
	Targets []struct {
		Target            string  `yaml:"target"`
		PerProxyPerMinute float64 `yaml:"perProxyPerMinute"`
	} `yaml:"targets"`
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
	var lines struct { // a strict decoder tells no lines of what it accepts
		Targets []yaml.Node `yaml:"targets"`
	}
	strict := yaml.NewDecoder(bytes.NewReader(data))
	strict.KnownFields(true)
	err := strict.Decode(&f)
	if errors.Is(err, io.EOF) { // nothing but comments
		return nil, nil
	}
	if err == nil {
		err = yaml.Unmarshal(data, &lines)
	}
	if err != nil {
		return nil, fmt.Errorf("it must be YAML of the form targets: [{target, perProxyPerMinute}]: %w", err)
	}
	budgets := make([]lease.Budget, len(f.Targets))
	seen := map[string]int{}
	for i, t := range f.Targets {
		line := lines.Targets[i].Line
		target, err := hostOf(t.Target)
		switch before, twice := seen[target]; {
		case err != nil:
			return nil, fmt.Errorf("line %d: target %w", line, err)
		case target == "":
			return nil, fmt.Errorf("line %d: target must be a host, such as shop.example", line)
		case twice:
			return nil, fmt.Errorf("line %d: target %s has a budget in line %d already: remove one", line, target, before)
		case !(t.PerProxyPerMinute > 0) || math.IsInf(t.PerProxyPerMinute, 1):
			return nil, fmt.Errorf("line %d: perProxyPerMinute of %s must be a number above 0", line, target)
		}
		seen[target] = line
		budgets[i] = lease.Budget{Target: target, PerProxyPerMinute: t.PerProxyPerMinute}
	}
	return budgets, nil
}
