package addoncli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addons "example.com/fairlead/api/addons/v1alpha1"
)

const approvedSays = "approved plan " + planHash + " of add-on demo (1 to create, 1 to prune)\n"

func TestSyncApprovesThePlanWhoseHashItPrints(t *testing.T) {
	for name, args := range map[string][]string{"the one that waits": nil, "one that was looked at": {"--plan", planHash}} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, addon("demo", waiting))
			if got := s.prints(append([]string{"sync", "demo"}, args...)...); got != approvedSays {
				t.Errorf("it prints %q", got)
			}
			if diff := cmp.Diff([]string{`POST /v1/addons/demo/sync {"plan":"` + planHash + `"}`}, s.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not another one", func(t *testing.T) {
		s := newShell(t, addon("demo", waiting))
		s.fails("the one that does is "+planHash, "sync", "demo", "--plan", "aaaaaaaaaaaaaaaaaaaa")
	})
	t.Run("nothing if it is in sync", func(t *testing.T) {
		s := newShell(t, addon("demo"))
		if got := s.prints("sync", "demo", "--wait"); got != "add-on demo is in sync: nothing waits\n" || len(s.asked) > 0 {
			t.Errorf("it prints %q, and asked %v", got, s.asked)
		}
	})
}

// becomes is a status that comes next.
func becomes(phase addons.Phase, message string, edits ...func(*addons.Addon)) func(*addons.Addon) {
	return func(a *addons.Addon) {
		a.Status.Phase, a.Status.Message = phase, message
		for _, edit := range edits {
			edit(a)
		}
	}
}

// unseen is a status that speaks of what was before.
func unseen(a *addons.Addon) { a.Status.ObservedGeneration = 1 }

func done(a *addons.Addon) { a.Status.Plan = nil }

func ended(outcome addons.Outcome, message string) func(*addons.Addon) {
	return func(a *addons.Addon) {
		a.Status.History = append(a.Status.History, addons.HistoryEntry{PlanHash: planHash, At: metav1.NewTime(start), Outcome: outcome, Message: message})
	}
}

func TestWaitFollowsTheSync(t *testing.T) {
	other := func(a *addons.Addon) { a.Status.Plan.Hash = "bbbbbbbbbbbbbbbbbbbb" }
	for name, test := range map[string]struct {
		then []func(*addons.Addon)
		told string
		// fails says why; empty if it succeeds.
		fails string
	}{
		"to its end": {
			then: []func(*addons.Addon){
				becomes(addons.PhaseSyncing, "1 of 2 objects"), becomes(addons.PhaseSyncing, "1 of 2 objects"), becomes(addons.PhaseSyncing, "hook check runs"),
				becomes(addons.PhaseSynced, "done", done, ended(addons.OutcomeSucceeded, "")),
			},
			told: "Syncing: 1 of 2 objects\nSyncing: hook check runs\nSynced: done\n",
		},
		"past what was before": {
			then: []func(*addons.Addon){becomes(addons.PhaseError, "of yesterday", unseen), becomes(addons.PhaseSynced, "done", done)},
			told: "Error: of yesterday\nSynced: done\n",
		},
		"while others have to come first": {
			then: []func(*addons.Addon){becomes(addons.PhasePending, "waits for base"), becomes(addons.PhaseSynced, "done", done)},
			told: "Pending: waits for base\nSynced: done\n",
		},
		"until it fails": {
			then:  []func(*addons.Addon){becomes(addons.PhaseError, "hook check failed")},
			told:  "Error: hook check failed\n",
			fails: "add-on demo is Error: hook check failed",
		},
		"until it stops": {
			then:  []func(*addons.Addon){becomes(addons.PhaseSyncing, "on"), becomes(addons.PhaseOutOfSync, "look again", ended(addons.OutcomeStopped, "Deployment ui moved"))},
			told:  "Syncing: on\nOutOfSync: look again\n",
			fails: "the sync of add-on demo stopped: Deployment ui moved",
		},
		"until another plan waits": {
			then:  []func(*addons.Addon){becomes(addons.PhaseOutOfSync, "3 changes wait", other)},
			told:  "OutOfSync: 3 changes wait\n",
			fails: "another plan waits, bbbbbbbbbbbbbbbbbbbb: look at it with fairlead addon diff demo",
		},
		"until it is blocked": {
			then:  []func(*addons.Addon){becomes(addons.PhaseBlocked, "it is Helm's")},
			told:  "Blocked: it is Helm's\n",
			fails: "is Blocked: it is Helm's",
		},
		"until somebody suspends it": {
			then:  []func(*addons.Addon){becomes(addons.PhaseSuspended, "")},
			told:  "Suspended\n",
			fails: "add-on demo is Suspended",
		},
		"until another one has its name": {
			then:  []func(*addons.Addon){becomes(addons.PhaseSynced, "", func(a *addons.Addon) { a.UID = "another" })},
			told:  "Synced\n",
			fails: "was deleted, and made anew",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, addon("demo", waiting, ended(addons.OutcomeStopped, "of yesterday")))
			s.then = test.then
			if test.fails == "" {
				s.prints("sync", "demo", "--wait")
			} else {
				s.fails(test.fails, "sync", "demo", "--wait")
			}
			if diff := cmp.Diff(approvedSays, s.out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.told, s.err.String()); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("no longer than it is told to", func(t *testing.T) {
		s := newShell(t, addon("demo", waiting))
		s.fails("the sync has not ended within 20ms: it goes on; fairlead addon history demo", "sync", "demo", "--wait", "--timeout", "20ms")
	})
}

func manyObjects(a *addons.Addon) {
	for _, kind := range []string{"Deployment", "Service", "PersistentVolumeClaim", "Namespace", "PersistentVolumeClaim"} {
		a.Status.Objects = append(a.Status.Objects, addons.ObjectRef{Version: "v1", Kind: kind, Name: "n"})
	}
	a.Status.ObjectsTotal, a.Finalizers = 5, []string{addons.Finalizer}
}

func TestUninstall(t *testing.T) {
	const (
		goes  = "add-on demo is deleted, and of its 5 objects 2 go; what stays: 1 Namespace, 2 PersistentVolumeClaim; and what its source asks to keep stays\n"
		stays = "add-on demo is deleted, and its 5 objects stay: nobody looks after them any more\n"
		asks  = "do it? [y/N] "
		gone  = "add-on demo is being uninstalled; fairlead addon list shows it until it is gone\n"
	)
	for name, test := range map[string]struct {
		args    []string
		in      string
		prints  string
		fails   string
		request string
	}{
		"a person agrees":         {in: "y\n", prints: goes + asks + gone, request: "DELETE /v1/addons/demo?uninstall=true"},
		"a person does not":       {in: "n\n", prints: goes + asks, fails: "nothing was done"},
		"a person says nothing":   {in: "\n", prints: goes + asks, fails: "nothing was done"},
		"the terminal is closed":  {in: "", prints: goes + asks, fails: "nothing was done"},
		"nobody has to be asked":  {args: []string{"--yes"}, prints: goes + gone, request: "DELETE /v1/addons/demo?uninstall=true"},
		"the objects are to stay": {args: []string{"--keep-objects"}, in: "yes\n", prints: stays + asks + "add-on demo is being deleted, and its objects stay\n", request: "DELETE /v1/addons/demo?uninstall=false"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t, addon("demo", manyObjects))
			s.terminal, s.in = true, test.in
			err := s.run(append([]string{"uninstall", "demo"}, test.args...)...)
			if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("error = %v, want %q", err, test.fails)
			}
			if diff := cmp.Diff(test.prints, s.out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			if got := strings.Join(s.asked, ", "); got != test.request {
				t.Errorf("asked %q, want %q", got, test.request)
			}
		})
	}
	t.Run("one of git", func(t *testing.T) {
		s := newShell(t, addon("demo", func(a *addons.Addon) {
			a.Labels = map[string]string{addons.LabelGitOps: "true"}
			a.Annotations = map[string]string{addons.AnnotationSource: "addons/demo.yaml@1234"}
		}))
		s.fails("addons/demo.yaml@1234", "uninstall", "demo", "--yes")
	})
}
