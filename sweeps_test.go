package main

import (
	"strings"
	"testing"
	"time"
)

func TestSweepFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*sweepSettings)
		says   string // empty for accepted
	}{
		"the defaults":       {func(*sweepSettings) {}, ""},
		"no budget":          {func(s *sweepSettings) { s.orphans.KillBudget = 0 }, ""},
		"a budget too large": {func(s *sweepSettings) { s.orphans.KillBudget = 51 }, "--kill-budget 51: give a number from 0 to 50"},
		"a negative budget":  {func(s *sweepSettings) { s.orphans.KillBudget = -1 }, "--kill-budget"},
		"a negative age":     {func(s *sweepSettings) { s.orphans.MinAge = -1 }, "--orphan-min-age"},
		"less than a second": {func(s *sweepSettings) { s.every = 0 }, "--sweep-interval"},
		"a part of a second": {func(s *sweepSettings) { s.every = 1500 * time.Millisecond }, "--sweep-interval 1.5s: give whole seconds"},
		"add-ons too often":  {func(s *sweepSettings) { s.addonsEvery = time.Millisecond }, "--addon-sweep-interval 1ms: give whole seconds"},
		"whole minutes":      {func(s *sweepSettings) { s.every = 5 * time.Minute }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := defaultSweepSettings()
			tt.change(&s)
			err := s.check()
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}
