package v1alpha1

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// MaxStatusBytes is what a status that Fit has cut is below, as JSON.
const MaxStatusBytes = 256 << 10

// The most that each list of a status holds. The schema has the same numbers.
const (
	maxObjects      = 500
	maxPlanItems    = 100
	maxPreviewItems = 100
	maxHooks        = 64
	maxHookEvents   = 16
	maxHookRuns     = 20
	maxHistory      = 10
	maxConditions   = 8
)

// The most that a text or list of a status takes, in bytes of JSON. A character may
// need six of them, so that the schema, which counts characters, cannot bound a status.
const (
	diffBytes    = 3000
	whyBytes     = 4 << 10
	messageBytes = 1 << 10
	reasonBytes  = 512
	whoBytes     = 253

	objectsBytes  = 80 << 10
	previewBytes  = 64 << 10
	planBytes     = 32 << 10
	hooksBytes    = 8 << 10
	hookRunsBytes = 14 << 10
	historyBytes  = 14 << 10
)

// cut ends a text that is not whole.
const cut = " … (cut)"

// Fit cuts s to what a status may hold: the first objects and items, the newest runs
// and syncs, and the beginnings of texts. Counts stay those of the whole.
func (s *AddonStatus) Fit() {
	s.Message = clip(s.Message, whyBytes)
	s.Revision = clip(s.Revision, reasonBytes)
	if s.Health != nil {
		s.Health.Message = clip(s.Health.Message, messageBytes)
	}
	for i := range s.Conditions {
		s.Conditions[i].Message = clip(s.Conditions[i].Message, messageBytes)
	}
	s.Conditions = s.Conditions[:min(len(s.Conditions), maxConditions)]
	s.Objects = first(s.Objects, maxObjects, objectsBytes)
	s.fitPlan()
	s.fitHooks()
	for i := range s.History {
		e := &s.History[i]
		e.Revision, e.Who, e.Message = clip(e.Revision, reasonBytes), clip(e.Who, whoBytes), clip(e.Message, messageBytes)
	}
	s.History = last(s.History, maxHistory, historyBytes)
}

func (s *AddonStatus) fitPlan() {
	if s.Plan != nil {
		for i := range s.Plan.Items {
			s.Plan.Items[i].Unverified = clip(s.Plan.Items[i].Unverified, reasonBytes)
		}
		s.Plan.Items = first(s.Plan.Items, maxPlanItems, planBytes)
	}
	if s.Preview == nil {
		return
	}
	items := s.Preview.Items[:min(len(s.Preview.Items), maxPreviewItems)]
	for i := range items {
		// A large diff in front leaves room for those behind it.
		share := previewBytes/len(items) - size(items[i].ObjectRef) - 64
		items[i].Diff = clip(items[i].Diff, min(share, diffBytes))
	}
	s.Preview.Items = first(items, maxPreviewItems, previewBytes)
}

func (s *AddonStatus) fitHooks() {
	for i := range s.Hooks {
		s.Hooks[i].Events = s.Hooks[i].Events[:min(len(s.Hooks[i].Events), maxHookEvents)]
	}
	s.Hooks = first(s.Hooks, maxHooks, hooksBytes)
	for i := range s.HookRuns {
		s.HookRuns[i].Message = clip(s.HookRuns[i].Message, messageBytes)
	}
	s.HookRuns = last(s.HookRuns, maxHookRuns, hookRunsBytes)
}

// first returns the items at the front that fit.
func first[T any](items []T, most, bytes int) []T {
	for i := range items {
		if bytes -= size(items[i]) + 1; bytes < 0 || i == most {
			return items[:i]
		}
	}
	return items
}

// last returns the items at the end that fit.
func last[T any](items []T, most, bytes int) []T {
	for i := len(items); i > 0; i-- {
		if bytes -= size(items[i-1]) + 1; bytes < 0 || len(items)-i == most {
			return items[i:]
		}
	}
	return items
}

// clip returns text, or its beginning, such that it takes bytes of JSON at most.
func clip(text string, bytes int) string {
	if size(text) <= bytes {
		return text
	}
	if bytes -= size(cut); bytes < 0 {
		return ""
	}
	for i, r := range text {
		if bytes -= escapedLen(r); bytes < 0 {
			return text[:i] + cut
		}
	}
	return text
}

// escapedLen is how many bytes of JSON a character takes.
func escapedLen(r rune) int {
	switch {
	case strings.ContainsRune("\"\\\b\f\n\r\t", r):
		return 2
	case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(r)
}

// size of v as JSON, in bytes.
func size(v any) int {
	// None of the types of a status can fail to be marshalled.
	data, _ := json.Marshal(v)
	return len(data)
}
