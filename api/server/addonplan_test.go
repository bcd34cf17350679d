package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
)

func deployment(name string) addons.ObjectRef {
	return addons.ObjectRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "storage", Name: name}
}

// wholePlan has everything that a plan can have.
func wholePlan() server.Plan {
	return server.Plan{
		Hash: planHash, Made: start,
		Counts: server.PlanCounts{Create: 1, Update: 1, Replace: 1, Keep: 1, Unchanged: 2, Unverified: 1, Blocked: 1},
		Items: []server.PlanItem{
			{ObjectRef: addons.ObjectRef{Version: "v1", Kind: "Namespace", Name: "storage"}, Action: "create", Diff: "--- live\n+++ planned\n@@ -0,0 +1 @@\n+kind: <Namespace>\n"},
			{ObjectRef: deployment("ui"), Action: "update", Diff: "--- live\n+++ planned\n@@ -1 +1 @@\n-replicas: 1\n+replicas: 2\n", Unverified: "namespace storage comes in the same plan"},
			{ObjectRef: deployment("db"), Action: "replace", Immutable: []string{"spec.selector", "spec.name"}, Blocked: "it is Helm's", Owner: "Helm release old/db", Adopts: true},
			{ObjectRef: deployment("same"), Action: "unchanged"},
			{ObjectRef: deployment("taken"), Action: "unchanged", Adopts: true},
			{ObjectRef: addons.ObjectRef{Version: "v1", Kind: "PersistentVolumeClaim", Namespace: "storage", Name: "data"}, Action: "keep", Note: "objects of this kind are never pruned"},
		},
		Hooks: []server.PlanHook{{ObjectRef: addons.ObjectRef{Group: "batch", Kind: "Job", Namespace: "storage", Name: "check"}, Events: []string{"pre-install", "pre-upgrade"}, Weight: -5}},
	}
}

func TestAPlanIsToldWhole(t *testing.T) {
	w, s := withAddons(t, addon("demo", waiting))
	s.plan = wholePlan()
	r := w.do(http.MethodGet, "/v1/addons/demo/plan", "")
	if r.code != http.StatusOK || r.header.Get("Content-Type") != "application/json" || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", r.code, r.header)
	}
	var got struct {
		server.Plan

		Items []server.PlanItem `json:"items"`
	}
	r.into(t, &got)
	got.Plan.Items = got.Items
	if diff := cmp.Diff(wholePlan(), got.Plan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, _ := openAPI(t, w)
	for name, answered := range map[string]any{"AddonPlan": nil, "PlanItem": got.Items, "PlanHook": got.Hooks, "PlanCounts": []any{got.Counts}} {
		fields := map[string]bool{}
		if answered == nil {
			answered = []any{r.object(t)}
		}
		text, err := json.Marshal(answered)
		if err != nil {
			t.Fatal(err)
		}
		var each []map[string]any
		if err := json.Unmarshal(text, &each); err != nil {
			t.Fatal(err)
		}
		for _, one := range each {
			for field := range one {
				fields[field] = true
			}
		}
		for _, field := range schemaOf(d, d.Components["schemas"][name]) {
			delete(fields, field)
		}
		if len(fields) > 0 {
			t.Errorf("%s: not documented: %v", name, fields)
		}
	}
}

func TestAPlanWithoutItemsIsJSONToo(t *testing.T) {
	w, s := withAddons(t, addon("demo", waiting))
	s.plan = server.Plan{Hash: planHash}
	r := w.do(http.MethodGet, "/v1/addons/demo/plan?format=json", "")
	if got := r.object(t); fmt.Sprint(got["items"], got["hooks"]) != "[] []" {
		t.Errorf("%s", r.text)
	}
}

func TestAPlanForPeople(t *testing.T) {
	w, s := withAddons(t, addon("demo", waiting))
	s.plan = wholePlan()
	r := w.do(http.MethodGet, "/v1/addons/demo/plan?format=text", "")
	want, err := os.ReadFile("testdata/plan.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), r.text); diff != "" || r.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%s (-want +got):\n%s", r.header.Get("Content-Type"), diff)
	}
}

func TestAPlanThatIsBlockedIsNotOfferedForApproval(t *testing.T) {
	w, s := withAddons(t, addon("demo", func(a *addons.Addon) {
		waiting(a)
		a.Status.Phase, a.Status.Message = addons.PhaseBlocked, "set allowAdoptChanges"
	}))
	s.plan = wholePlan()
	r := w.do(http.MethodGet, "/v1/addons/demo/plan?format=text", "")
	if strings.Contains(r.text, "approve it with") || !strings.Contains(r.text, "demo is Blocked: set allowAdoptChanges") {
		t.Errorf("%s", r.text)
	}
}

func TestPlansThatCannotBeTold(t *testing.T) {
	for name, test := range map[string]struct {
		edit  func(*addons.Addon)
		set   func(*sets)
		query string
		code  int
		word  string
		says  string
	}{
		"nothing waits":       {code: 404, word: "no_plan", says: "add-on demo is Synced: all is well"},
		"it is kept no more":  {edit: func(a *addons.Addon) { waiting(a); a.Status.Sets.Plan = "former" }, code: 410, word: "plan_gone", says: planHash},
		"it was never kept":   {edit: func(a *addons.Addon) { waiting(a); a.Status.Sets = nil }, code: 410, word: "plan_gone", says: "the next look"},
		"another one is kept": {edit: waiting, set: func(s *sets) { s.plan.Hash = "another" }, code: 410, word: "plan_gone", says: planHash},
		"the store is away":   {edit: waiting, set: func(s *sets) { s.err = errors.New("c4nary") }, code: 503, word: "unavailable", says: "log of the API"},
		"an unknown format":   {edit: waiting, query: "?format=yaml", code: 400, word: "invalid_query", says: "text or json"},
		"two formats":         {edit: waiting, query: "?format=text&format=json", code: 400, word: "invalid_query", says: "2 times"},
		"a misspelt query":    {edit: waiting, query: "?formt=text", code: 400, word: "invalid_query", says: "formt"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.edit == nil {
				test.edit = func(*addons.Addon) {}
			}
			w, s := withAddons(t, addon("demo", test.edit))
			s.plan.Hash = planHash
			if test.set != nil {
				test.set(s)
			}
			r := w.do(http.MethodGet, "/v1/addons/demo/plan"+test.query, "")
			if message, _ := r.field(t, "message").(string); r.code != test.code || r.field(t, "error") != test.word || !strings.Contains(message, test.says) || strings.Contains(r.text, "c4nary") {
				t.Errorf("%d %s", r.code, r.text)
			}
		})
	}
}

func TestFewPlansAreReadAtATime(t *testing.T) {
	w, s := withAddons(t, addon("demo", waiting))
	s.plan, s.reading = wholePlan(), make(chan chan struct{})
	answers := make(chan int, 2)
	var under []chan struct{}
	for range 2 {
		go func() { answers <- w.do(http.MethodGet, "/v1/addons/demo/plan", "").code }()
		under = append(under, <-s.reading)
	}
	if r := w.do(http.MethodGet, "/v1/addons/demo/plan", ""); r.code != 503 || r.field(t, "error") != "busy" || r.header.Get("Retry-After") != "1" {
		t.Errorf("a third: %d %s", r.code, r.text)
	}
	for _, done := range under {
		close(done)
		if code := <-answers; code != http.StatusOK {
			t.Errorf("one that was first: %d", code)
		}
	}
	s.reading = nil
	if r := w.do(http.MethodGet, "/v1/addons/demo/plan", ""); r.code != http.StatusOK {
		t.Errorf("later: %d %s", r.code, r.text)
	}
}
