package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
)

const planHash = "0123456789abcdefghij"

// sets are a set store.
type sets struct {
	plan server.Plan
	err  error
	// reading, if set, is told of each reading, and until it is answered the plan is read.
	reading chan chan struct{}
}

func (s *sets) Plan(_ context.Context, a *addons.Addon) (server.Plan, error) {
	if s.reading != nil {
		done := make(chan struct{})
		s.reading <- done
		<-done
	}
	if a.Status.Sets == nil || a.Status.Sets.Plan != "digest" {
		return server.Plan{}, server.ErrNoPlan
	}
	return s.plan, s.err
}

func (s *sets) Signer(context.Context) (func([]byte) string, error) {
	return func(b []byte) string { return fmt.Sprintf("signed %d bytes", len(b)) }, s.err
}

func addon(name string, edits ...func(*addons.Addon)) *addons.Addon {
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 3},
		Spec: addons.AddonSpec{
			Namespace: "storage", Title: "Storage", Category: "disks", Values: "replicas: 2\n", ManualSync: true,
			Source: addons.AddonSource{Helm: &addons.HelmSource{Repo: "https://charts.example", Chart: "storage", Version: "1.2.3"}},
		},
		Status: addons.AddonStatus{
			Phase: addons.PhaseSynced, Message: "all is well", Revision: "storage-1.2.3", ObservedGeneration: 2,
			Health:  &addons.Health{Status: addons.HealthProgressing, Message: "Deployment.apps storage/ui rolls out"},
			Objects: []addons.ObjectRef{{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "storage", Name: "ui"}}, ObjectsTotal: 1,
		},
	}
	for _, edit := range edits {
		edit(a)
	}
	return a
}

// waiting has a plan that waits.
func waiting(a *addons.Addon) {
	a.Status.Phase, a.Status.Message = addons.PhaseOutOfSync, "2 changes wait"
	a.Status.Plan = &addons.Plan{
		Hash: planHash, Create: 1, Prune: 1, Unchanged: 7, Unverified: 1,
		Items: []addons.PlanItem{{ObjectRef: addons.ObjectRef{Version: "v1", Kind: "Secret", Name: "s"}, Action: addons.ActionCreate}},
	}
	a.Status.Preview = &addons.Preview{Items: []addons.PreviewItem{{Action: addons.ActionCreate, Diff: "+ preview"}}}
	a.Status.Sets = &addons.Sets{Plan: "digest", Render: "render-digest", Inventory: "inventory-digest"}
}

// whole has all that a status can have.
func whole(a *addons.Addon) {
	waiting(a)
	at := metav1.NewTime(start)
	a.Annotations = map[string]string{addons.AnnotationSource: "addons/demo.yaml@1234"}
	a.Status.Resolved = &addons.Resolved{Version: "1.2.3", Digest: "sha256:ab"}
	a.Status.Hooks = []addons.HookRef{{Kind: "Job", Name: "check", Events: []string{"pre-install"}}}
	a.Status.HookRuns = []addons.HookRun{{Event: "pre-install", Kind: "Job", Name: "check", Status: addons.HookSucceeded, Finished: &at}}
	a.Status.LastSynced = &at
	a.Status.Sync = &addons.SyncProgress{ID: "s1", Lifecycle: "install"}
	a.Status.History = []addons.HistoryEntry{{Revision: "storage-1.2.2", PlanHash: planHash, Who: "anna", Verified: true, At: at, Outcome: addons.OutcomeSucceeded, Message: "1 created"}}
	a.Status.Conditions = []metav1.Condition{{Type: addons.ConditionReady, Status: metav1.ConditionTrue, Reason: "Synced", LastTransitionTime: at}}
}

func withAddons(t testing.TB, objects ...client.Object) (*world, *sets) {
	t.Helper()
	w, s := newWorld(t, objects...), &sets{}
	w.options.Addons = &server.Addons{Cache: w.cluster, Objects: w.cluster, Sets: s}
	w.build()
	return w, s
}

func TestAddonsAreListedByName(t *testing.T) {
	w, _ := withAddons(t, addon("b", waiting), addon("a", func(a *addons.Addon) { a.Spec.Suspend = true }),
		addon("d", func(a *addons.Addon) { a.Status = addons.AddonStatus{} }),
		addon("c", func(a *addons.Addon) {
			a.DeletionTimestamp, a.Finalizers = &metav1.Time{Time: start}, []string{addons.Finalizer}
			a.Annotations = map[string]string{addons.AnnotationUninstall: "true"}
		}))
	r := w.do(http.MethodGet, "/v1/addons", "")
	var got struct {
		Addons []struct {
			Name, Phase, Health               string
			Plan                              map[string]any
			Suspended, Deleting, Uninstalling bool
		}
		Count int
	}
	r.into(t, &got)
	var said []string
	for _, a := range got.Addons {
		said = append(said, fmt.Sprintf("%s %s %q %v %t %t %t", a.Name, a.Phase, a.Health, a.Plan["hash"], a.Suspended, a.Deleting, a.Uninstalling))
	}
	want := []string{
		`a Synced "Progressing"  true false false`, `b OutOfSync "Progressing" ` + planHash + ` false false false`,
		`c Synced "Progressing"  false true true`, `d Pending ""  false false false`,
	}
	if diff := cmp.Diff(want, said); diff != "" || got.Count != 4 {
		t.Errorf("%d (-want +got):\n%s", got.Count, diff)
	}
	for _, large := range []string{"preview", "digest", "objects", "values"} {
		if strings.Contains(r.text, large) {
			t.Errorf("the list tells of %s:\n%s", large, r.text)
		}
	}
	if r := w.do(http.MethodGet, "/v1/addons?phase=Synced", ""); r.code != 400 || r.field(t, "error") != "invalid_query" {
		t.Errorf("an unknown parameter: %d %s", r.code, r.text)
	}
}

func TestAnAddonIsToldWhole(t *testing.T) {
	w, _ := withAddons(t, addon("demo", whole))
	r := w.do(http.MethodGet, "/v1/addons/demo", "")
	got := r.object(t)
	spec, _ := got["spec"].(map[string]any)
	if r.code != 200 || spec["values"] != "replicas: 2\n" || got["generation"] != 3.0 || got["definition"] != "addons/demo.yaml@1234" {
		t.Errorf("%d %s", r.code, r.text)
	}
	for _, own := range []string{"preview", "inventory-digest"} {
		if strings.Contains(r.text, own) {
			t.Errorf("it tells of %s:\n%s", own, r.text)
		}
	}
	d, _ := openAPI(t, w)
	documented := schemaOf(d, d.Components["schemas"]["AddonDetails"])
	var answered []string
	for field := range got {
		answered = append(answered, field)
	}
	slices.Sort(documented)
	slices.Sort(answered)
	if diff := cmp.Diff(answered, documented); diff != "" {
		t.Errorf("answered (-), documented (+):\n%s", diff)
	}
}

func TestNamesThatNoAddonCanHave(t *testing.T) {
	w, _ := withAddons(t, addon("demo"))
	for _, name := range []string{"none", "%2e%2e", "De%20mo", "demo%2Fplan", "%00", "%ff", strings.Repeat("x", 300), "demo%0aX"} {
		for _, ask := range []struct{ method, path string }{{"GET", ""}, {"GET", "/plan"}, {"POST", "/sync"}, {"DELETE", ""}} {
			if r := w.do(ask.method, "/v1/addons/"+name+ask.path, ""); r.code != 404 || r.field(t, "error") != "unknown_addon" {
				t.Errorf("%s %s%s: %d %.300s", ask.method, name, ask.path, r.code, r.text)
			}
		}
	}
}

func TestWhoMaySeeAndChangeAddons(t *testing.T) {
	w, _, as := guarded(t, "crawler", "operator", "read")
	if err := w.cluster.Create(t.Context(), addon("demo", waiting)); err != nil {
		t.Fatal(err)
	}
	s := &sets{plan: server.Plan{Hash: planHash}}
	w.options.Addons = &server.Addons{Cache: w.cluster, Objects: w.cluster, Sets: s}
	w.build()
	for _, test := range []struct {
		method, path string
		codes        map[string]int
	}{
		{"GET", "/v1/addons", map[string]int{"crawler": 403, "read": 200, "operator": 200}},
		{"GET", "/v1/addons/demo", map[string]int{"crawler": 403, "read": 200, "operator": 200}},
		{"GET", "/v1/addons/demo/plan", map[string]int{"crawler": 403, "read": 200, "operator": 200}},
		{"POST", "/v1/addons/demo/sync", map[string]int{"crawler": 403, "read": 403, "operator": 202}},
		{"DELETE", "/v1/addons/demo", map[string]int{"crawler": 403, "read": 403, "operator": 202}},
	} {
		for _, who := range []string{"crawler", "read", "operator"} {
			if r := w.do(test.method, test.path, "", as[who]); r.code != test.codes[who] {
				t.Errorf("%s %s by %s: %d %s", test.method, test.path, who, r.code, r.text)
			}
		}
	}
	for _, line := range []string{`"a plan was approved","addon":"demo","plan":"` + planHash + `","client":"operator"`, `"an add-on is deleted","addon":"demo","uninstall":false,"client":"operator"`} {
		if !w.logs(line) {
			t.Errorf("the log has no %s:\n%s", line, w.log)
		}
	}
}

// failing is a cache, or a Kubernetes API, that does not work.
type failing struct {
	client.Client
	err error
}

func (f failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}

func (f failing) List(context.Context, client.ObjectList, ...client.ListOption) error { return f.err }

func TestAddonsThatCannotBeServed(t *testing.T) {
	noKind := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "rendimiento.ai", Kind: "Addon"}}
	refused := errors.New("connection refused by 10.0.0.1")
	for name, test := range map[string]struct {
		addons     func(c client.Client) *server.Addons
		word, says string
	}{
		"started without them": {func(client.Client) *server.Addons { return nil }, "no_addons", "started without"},
		"a cluster without the kind": {func(c client.Client) *server.Addons {
			return &server.Addons{Cache: failing{c, fmt.Errorf("get informer: %w", noKind)}, Objects: failing{c, noKind}, Sets: &sets{}}
		}, "no_addons", "apply deploy/crds"},
		"a cluster that is away": {func(c client.Client) *server.Addons {
			return &server.Addons{Cache: failing{c, refused}, Objects: failing{c, refused}, Sets: &sets{}}
		}, "unavailable", "log of the API"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := withAddons(t)
			w.options.Addons = test.addons(w.cluster)
			w.build()
			for _, ask := range []struct{ method, path string }{
				{"GET", "/v1/addons"}, {"GET", "/v1/addons/demo"}, {"GET", "/v1/addons/demo/plan"}, {"POST", "/v1/addons/demo/sync"}, {"DELETE", "/v1/addons/demo"},
			} {
				r := w.do(ask.method, ask.path, "")
				if message, _ := r.field(t, "message").(string); r.code != 503 || r.field(t, "error") != test.word || !strings.Contains(message, test.says) || strings.Contains(r.text, "10.0.0.1") {
					t.Errorf("%s %s: %d %s", ask.method, ask.path, r.code, r.text)
				}
			}
		})
	}
}
