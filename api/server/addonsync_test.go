package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/addons/approve"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
	"example.com/fairlead/deploy/local/localtest"
)

// live is a world on a real API server: what counts is what it stores, and what it lets
// through.
type live struct {
	*world
	sets *sets
}

func newLive(t *testing.T) live {
	t.Helper()
	w, s := withAddons(t)
	w.cluster = localtest.Client(t, localtest.ControlPlane(t))
	w.options.Addons = &server.Addons{Cache: w.cluster, Objects: w.cluster, Sets: s}
	w.build()
	return live{w, s}
}

// create makes an add-on with its status, which goes when the test ends.
func (l live) create(t *testing.T, a *addons.Addon) *addons.Addon {
	t.Helper()
	status := a.Status
	a.UID, a.Generation = "", 0
	if err := l.cluster.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		gone := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: a.Name}}
		if err := l.cluster.Delete(ctx, gone); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
		if err := l.cluster.Patch(ctx, gone, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	a.Status = status
	if err := l.cluster.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (l live) read(t *testing.T, name string) *addons.Addon {
	t.Helper()
	var a addons.Addon
	if err := l.cluster.Get(t.Context(), client.ObjectKey{Name: name}, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

func kept(a *addons.Addon) { a.Finalizers = []string{addons.Finalizer} }

func TestSync(t *testing.T) {
	l := newLive(t)
	ask := func(name, body string) reply { return l.do(http.MethodPost, "/v1/addons/"+name+"/sync", body) }
	demo := l.create(t, addon("demo", waiting))

	t.Run("the approval is on the object before the answer, and proved", func(t *testing.T) {
		r := ask("demo", "")
		a := l.read(t, "demo")
		want := map[string]any{"plan": planHash, "generation": float64(a.Generation), "workflowID": "addon/demo/" + string(demo.UID)}
		if diff := cmp.Diff(want, r.object(t)); diff != "" || r.code != http.StatusAccepted {
			t.Errorf("%d (-want +got):\n%s", r.code, diff)
		}
		sign, _ := l.sets.Signer(t.Context())
		if who, verified := approve.Approver(a, sign); a.Spec.Approve != planHash || who != "anonymous" || !verified {
			t.Errorf("approve %q by %q, verified %t", a.Spec.Approve, who, verified)
		}
	})
	t.Run("it may be repeated, by its hash or not, by several at once", func(t *testing.T) {
		before := l.read(t, "demo").ResourceVersion
		var all sync.WaitGroup
		for _, body := range []string{"", "{}", `{"plan":""}`, `{"plan":"` + planHash + `"}`} {
			all.Go(func() {
				if r := ask("demo", body); r.code != http.StatusAccepted {
					t.Errorf("%s: %d %s", body, r.code, r.text)
				}
			})
		}
		all.Wait()
		if after := l.read(t, "demo").ResourceVersion; after != before {
			t.Error("it was written again")
		}
	})
	l.create(t, addon("synced"))
	l.create(t, addon("halted", waiting, func(a *addons.Addon) { a.Spec.Suspend = true }))
	going := l.create(t, addon("going", waiting, kept))
	if err := l.cluster.Delete(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		addon, body string
		code        int
		word, says  string
	}{
		"nothing waits":           {"synced", "", 409, "no_plan", "it is Synced: all is well: GET /v1/addons/synced tells more"},
		"another plan waits":      {"demo", `{"plan":"aaaaaaaaaaaaaaaaaaaa"}`, 409, "other_plan", "the one that does is " + planHash + ": look at GET /v1/addons/demo/plan"},
		"it is suspended":         {"halted", "", 409, "suspended", "set spec.suspend to false"},
		"it goes":                 {"going", "", 409, "being_deleted", "is being deleted"},
		"nobody is asked":         {"none", "", 404, "unknown_addon", "GET /v1/addons lists them"},
		"an unknown field":        {"demo", `{"hash":"a"}`, 400, "invalid_body", "the fields are plan"},
		"no hash":                 {"demo", `{"plan":"../../etc"}`, 400, "invalid_body", "no hash of a plan"},
		"a hash that is too long": {"demo", `{"plan":"` + strings.Repeat("a", 30) + ":" + strings.Repeat("a", 64) + `"}`, 400, "invalid_body", "no hash of a plan"},
		"no object":               {"demo", `[]`, 400, "invalid_body", "must be a JSON object"},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			r := ask(test.addon, test.body)
			if message, _ := r.field(t, "message").(string); r.code != test.code || r.field(t, "error") != test.word || !strings.Contains(message, test.says) {
				t.Errorf("%d %s, want %d %s", r.code, r.text, test.code, test.word)
			}
		})
	}
	t.Run("a query is refused", func(t *testing.T) {
		if r := l.do(http.MethodPost, "/v1/addons/demo/sync?plan="+planHash, ""); r.code != 400 || r.field(t, "error") != "invalid_query" {
			t.Errorf("%d %s", r.code, r.text)
		}
	})
}

func TestDeleteAddon(t *testing.T) {
	l := newLive(t)
	ask := func(name, query string) reply { return l.do(http.MethodDelete, "/v1/addons/"+name+query, "") }
	for query, uninstall := range map[string]bool{"": false, "?uninstall=false": false, "?uninstall=true": true} {
		t.Run("with "+query, func(t *testing.T) {
			name := "plain" + strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r
				}
				return -1
			}, query)
			a := l.create(t, addon(name, kept))
			want := map[string]any{"name": name, "uninstall": uninstall, "objectsTotal": 1.0, "uid": string(a.UID)}
			for range 2 {
				r := ask(name, query)
				if diff := cmp.Diff(want, r.object(t)); diff != "" || r.code != http.StatusAccepted {
					t.Errorf("%d (-want +got):\n%s", r.code, diff)
				}
			}
			if a = l.read(t, name); a.DeletionTimestamp.IsZero() || a.Uninstalls() != uninstall {
				t.Errorf("deleting since %s, uninstalls: %t", a.DeletionTimestamp, a.Uninstalls())
			}
			r := ask(name, map[bool]string{true: "", false: "?uninstall=true"}[uninstall])
			if r.code != 409 || r.field(t, "error") != "being_deleted" || !strings.Contains(r.text, map[bool]string{true: "take annotation", false: "its objects stay"}[uninstall]) {
				t.Errorf("the other way: %d %s", r.code, r.text)
			}
		})
	}
	l.create(t, addon("ours", func(a *addons.Addon) {
		a.Labels = map[string]string{addons.LabelGitOps: "true"}
		a.Annotations = map[string]string{addons.AnnotationSource: "addons/ours.yaml@1234"}
	}))
	for name, test := range map[string]struct {
		addon, query string
		code         int
		word, says   string
	}{
		"one of git":      {"ours", "?uninstall=true", 409, "managed_in_git", "(addons/ours.yaml@1234, annotation rendimiento.ai/source): delete its definition there"},
		"none":            {"none", "", 404, "unknown_addon", "lists them"},
		"another word":    {"ours", "?uninstall=yes", 400, "invalid_query", "true or false"},
		"two words":       {"ours", "?uninstall=true&uninstall=false", 400, "invalid_query", "2 times"},
		"a misspelt word": {"ours", "?unistall=true", 400, "invalid_query", "unistall"},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			r := ask(test.addon, test.query)
			if message, _ := r.field(t, "message").(string); r.code != test.code || r.field(t, "error") != test.word || !strings.Contains(message, test.says) {
				t.Errorf("%d %s, want %d %s", r.code, r.text, test.code, test.word)
			}
		})
	}
	if a := l.read(t, "ours"); !a.DeletionTimestamp.IsZero() || a.Uninstalls() {
		t.Errorf("one of git: %+v", a.ObjectMeta)
	}
}
