package main

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

// kindOf is the kind of promise that err says is broken; empty for none.
func kindOf(err error) verdict {
	if v := new(violation); errors.As(err, &v) {
		return v.verdict
	}
	return ""
}

func TestCompare(t *testing.T) {
	l := &life{}
	for _, tt := range []struct {
		name string
		got  []string
		want verdict
	}{
		{"the same, in another order", []string{"b", "a"}, ""},
		{"one is missing", []string{"a"}, objectLost},
		{"one is missing, and one too much", []string{"a", "c"}, objectLost},
		{"one too much", []string{"a", "b", "c"}, leftBehind},
		{"one twice", []string{"a", "b", "b"}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := kindOf(l.compare("it", []string{"a", "b"}, tt.got, objectLost, leftBehind)); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAHookRunsOnce(t *testing.T) {
	prepare := job{namespace: "life", name: "prepare", run: "1", succeeded: true}
	announce := job{namespace: "life", name: "announce", run: "2", succeeded: true}
	others := job{namespace: "other", name: "prepare", run: "3", succeeded: true}
	for _, tt := range []struct {
		name string
		jobs []job
		want verdict
	}{
		{"once", []job{prepare, announce, others}, ""},
		{"twice", []job{prepare, prepare, announce}, hookTwice},
		{"not", []job{prepare, others}, broken},
		{"not to its end", []job{prepare, {namespace: "life", name: "announce"}}, broken},
		{"too early", []job{prepare, announce, {namespace: "life", name: "migrate"}}, hookTwice},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &cluster{jobs: jobs(tt.jobs)}
			l := &life{slot: &slot{run: &run{cluster: c}}, name: "life", version: firstVersion}
			if got := kindOf(l.checkJobs(false)); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAHistoryTellsOfEachSyncOnce(t *testing.T) {
	install := addons.HistoryEntry{Outcome: addons.OutcomeSucceeded, Message: "6 to create"}
	healed := addons.HistoryEntry{Outcome: addons.OutcomeSucceeded, Message: "healed: 1 to update"}
	failed := addons.HistoryEntry{Outcome: addons.OutcomeFailed, Message: "it failed"}
	for _, tt := range []struct {
		name    string
		history []addons.HistoryEntry
		want    verdict
	}{
		{"each", []addons.HistoryEntry{install, healed}, ""},
		{"one twice", []addons.HistoryEntry{install, healed, healed}, broken},
		{"a failed one", []addons.HistoryEntry{failed, healed}, broken},
		{"nothing of a drift", []addons.HistoryEntry{install, install}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := kindOf((&life{syncs: 2}).checkHistory(tt.history)); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

func jobs(all []job) map[types.UID]job {
	byUID := map[types.UID]job{}
	for i, j := range all {
		byUID[types.UID(rune('a'+i))] = j
	}
	return byUID
}
