package main

import (
	"errors"
	"fmt"
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
		{"two Jobs of one run", []job{prepare, announce, {namespace: "life", name: "announce", run: "2"}}, hookTwice},
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

func TestAHookThatFailedRunsOnceMore(t *testing.T) {
	var before []job
	for i, h := range hookJobs {
		if !h.fails {
			before = append(before, job{namespace: "life", name: h.name, run: fmt.Sprint(i), succeeded: true})
		}
	}
	backup := func(run string, succeeded bool) job { return job{"life", "backup", run, succeeded} }
	for _, tt := range []struct {
		name string
		jobs []job
		want verdict
	}{
		{"in another run", []job{backup("a", false), backup("b", true)}, ""},
		{"in the same run", []job{backup("a", false), backup("a", true)}, hookTwice},
		{"and not again after it has succeeded", []job{backup("a", true), backup("b", true)}, hookTwice},
		{"and not a third time", []job{backup("a", false), backup("b", false), backup("c", true)}, hookTwice},
		{"never", []job{backup("a", false)}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &cluster{jobs: jobs(append(tt.jobs, before...))}
			l := &life{slot: &slot{run: &run{cluster: c}}, name: "life", version: secondVersion}
			if got := kindOf(l.checkJobs(true)); got != tt.want {
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
