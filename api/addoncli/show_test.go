package addoncli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
)

func TestAddonsAreListed(t *testing.T) {
	s := newShell(t, addon("demo", waiting), addon("a", func(a *addons.Addon) {
		a.DeletionTimestamp, a.Finalizers = &metav1.Time{Time: start}, []string{addons.Finalizer}
		a.Status.Message = "two\nlines, \x1b[31mred\x1b[0m " + strings.Repeat("x", 100)
	}))
	want := `NAME   PHASE       NAMESPACE   REVISION        HEALTH    WAITS                    MESSAGE
a      Deleting    storage     storage-1.2.3   Healthy   -                        two lines, �[31mred�[0m ` + strings.Repeat("x", 55) + `…
demo   OutOfSync   storage     storage-1.2.3   Healthy   1 to create, 1 to prune   2 changes wait
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(s.prints("list"))); diff != "" {
		t.Errorf("%s\n(-want +got):\n%s", s.out.String(), diff)
	}
	var got struct {
		Addons []struct{ Name string }
		Count  int
	}
	if err := json.Unmarshal([]byte(s.prints("ls", "-o", "json")), &got); err != nil || got.Count != 2 || got.Addons[1].Name != "demo" {
		t.Errorf("%+v, %v", got, err)
	}
}

func somePlan() server.Plan {
	return server.Plan{
		Hash: planHash, Counts: server.PlanCounts{Update: 1, Unchanged: 3},
		Items: []server.PlanItem{{
			ObjectRef: addons.ObjectRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "storage", Name: "ui"}, Action: "update",
			Unverified: "why \x1b]0;title\x07", Diff: "--- live\n+++ planned\n@@ -1 +1 @@\n-replicas: 1\n+replicas: 2\n same\n",
		}},
	}
}

func TestDiffPrintsThePlan(t *testing.T) {
	const plain = `add-on demo is OutOfSync: 2 changes wait
plan ` + planHash + `: 1 to update, 3 unchanged

update Deployment.apps storage/ui
  unverified: why �]0;title�
--- live
+++ planned
@@ -1 +1 @@
-replicas: 1
+replicas: 2
 same

approve it with: fairlead addon sync demo --plan ` + planHash + "\n"
	s := newShell(t, addon("demo", waiting))
	s.plan = somePlan()
	if diff := cmp.Diff(plain, s.prints("diff", "demo")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.terminal = true
	coloured := s.prints("diff", "demo")
	for _, line := range []string{"\x1b[1mupdate Deployment.apps storage/ui\x1b[0m", "\x1b[1m--- live\x1b[0m", "\x1b[36m@@ -1 +1 @@\x1b[0m", "\x1b[31m-replicas: 1\x1b[0m", "\x1b[32m+replicas: 2\x1b[0m", " same"} {
		if !strings.Contains(coloured, "\n"+line+"\n") {
			t.Errorf("on a terminal it has no %q:\n%q", line, coloured)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if diff := cmp.Diff(plain, s.prints("diff", "demo")); diff != "" {
		t.Errorf("without colours (-want +got):\n%s", diff)
	}
	var got struct {
		Hash  string
		Items []struct{ Action, Diff string }
	}
	if err := json.Unmarshal([]byte(s.prints("diff", "demo", "-o", "json")), &got); err != nil || got.Hash != planHash || got.Items[0].Diff != somePlan().Items[0].Diff {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDiffOfWhatIsInSync(t *testing.T) {
	s := newShell(t, addon("demo"))
	if got := s.prints("diff", "demo"); got != "nothing waits: add-on demo is Synced: all is well\n" {
		t.Errorf("it prints %q", got)
	}
	s.fails("no_plan", "diff", "demo", "-o", "json")
}

func TestHistoryHasTheNewestFirst(t *testing.T) {
	entry := func(hours int, revision string, edit func(*addons.HistoryEntry)) addons.HistoryEntry {
		h := addons.HistoryEntry{Revision: revision, PlanHash: planHash, At: metav1.NewTime(start.Add(time.Duration(hours) * time.Hour)), Outcome: addons.OutcomeSucceeded, Message: "3 created"}
		edit(&h)
		return h
	}
	s := newShell(t, addon("demo", func(a *addons.Addon) {
		a.Status.History = []addons.HistoryEntry{
			entry(0, "storage-1.2.1", func(*addons.HistoryEntry) {}),
			entry(1, "storage-1.2.2", func(h *addons.HistoryEntry) { h.Who, h.Verified = "anna", true }),
			entry(2, "storage-1.2.3", func(h *addons.HistoryEntry) { h.Who, h.Outcome, h.Message = "kubectl", addons.OutcomeStopped, "moved" }),
		}
	}))
	want := `WHEN                   REVISION        PLAN               WHO                    OUTCOME     MESSAGE
2026-03-01 14:00:00Z   storage-1.2.3   0123456789abcde…   kubectl (unverified)   Stopped     moved
2026-03-01 13:00:00Z   storage-1.2.2   0123456789abcde…   anna                   Succeeded   3 created
2026-03-01 12:00:00Z   storage-1.2.1   0123456789abcde…   -                      Succeeded   3 created
`
	if diff := cmp.Diff(want, s.prints("history", "demo")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var got struct {
		History []struct{ Revision, PlanHash string }
	}
	if err := json.Unmarshal([]byte(s.prints("history", "demo", "-o", "json")), &got); err != nil || got.History[0].Revision != "storage-1.2.3" || got.History[0].PlanHash != planHash {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	s := newShell(t, addon("demo", waiting))
	for says, args := range map[string][]string{
		"none of text, json":                            {"list", "-o", "yaml"},
		"name the add-on: fairlead addon diff NAME;":    {"diff"},
		`"x" is too much: addon history NAME`:           {"history", "demo", "x"},
		"there is no add-on none: GET /v1/addons lists": {"sync", "none"},
		"unknown_addon":                                 {"diff", "../demo"},
		"give that too":                                 {"sync", "demo", "--timeout", "1m"},
		"no hash of a plan":                             {"sync", "demo", "--plan", "short"},
		"nobody can be asked: give --yes":               {"uninstall", "demo"},
		"nothing listens at http://127.0.0.1:1":         {"list", "--api-url", "http://127.0.0.1:1"},
	} {
		s.fails(says, args...)
	}
}
