package addon_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// workflows are those of a test: they record whose was woken.
type workflows struct {
	mu     sync.Mutex
	woken  []string
	open   map[string]bool // by name
	listed map[string]bool // by id
	fail   error
}

func (w *workflows) AddonChanged(_ context.Context, ref wire.AddonRef) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail == nil {
		w.woken = append(w.woken, ref.Name)
	}
	return w.fail
}

func (w *workflows) AddonRunning(_ context.Context, ref wire.AddonRef) (bool, error) {
	return w.open[ref.Name], nil
}

func (w *workflows) ListAddonsRunning(context.Context) (map[string]bool, error) {
	return w.listed, nil
}

// took are the names of those that were woken since the last call.
func (w *workflows) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := w.woken
	w.woken = nil
	slices.Sort(woken)
	return woken
}

// looks answers by the name of the add-on; by default it sees what seen says.
type looks struct {
	mu     sync.Mutex
	at     []string
	fail   map[string]error
	others map[string]*look.Look
}

func (l *looks) Look(_ context.Context, a *addons.Addon) (*look.Look, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = append(l.at, a.Name)
	if other, ok := l.others[a.Name]; ok {
		return other, nil
	}
	return seen(), l.fail[a.Name]
}

// seen is a look at an add-on with nothing to do.
func seen(change ...func(*look.Look)) *look.Look {
	l := &look.Look{
		Render: kept.Render{Revision: "web-1.0.0", Version: "1.0.0", Digest: "sha256:1", Content: "c1"},
		Plan:   &plan.Plan{Hash: "h1"},
		Health: addons.Health{Status: addons.HealthHealthy, Message: "all are"},
	}
	for _, c := range change {
		c(l)
	}
	return l
}

// told is an add-on whose status tells what seen saw.
func told(name string, change ...func(*addons.Addon)) *addons.Addon {
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Finalizers: []string{addons.Finalizer}},
		Status: addons.AddonStatus{
			Phase: addons.PhaseSynced, Revision: "web-1.0.0", Resolved: &addons.Resolved{Version: "1.0.0", Digest: "sha256:1"},
			Plan: &addons.Plan{Unchanged: 3}, AppliedHash: "c1",
			Health: &addons.Health{Status: addons.HealthHealthy, Message: "other words"},
		},
	}
	for _, c := range change {
		c(a)
	}
	return a
}

func in(p addons.Phase) func(*addons.Addon) {
	return func(a *addons.Addon) { a.Status.Phase = p }
}

// sweepOf looks at the objects, whose workflows run but for those named in idle.
func sweepOf(t *testing.T, l addon.Looker, objects []*addons.Addon, idle ...string) (*addon.Sweep, *workflows) {
	t.Helper()
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &workflows{listed: map[string]bool{}}
	cluster := fake.NewClientBuilder().WithScheme(scheme)
	for _, a := range objects {
		cluster.WithObjects(a)
		if !slices.Contains(idle, a.Name) {
			w.listed[wire.AddonID(wire.AddonRef{Name: a.Name, UID: string(a.UID)})] = true
		}
	}
	return &addon.Sweep{Client: cluster.Build(), Look: l, Workflows: w, Parallel: 8, Log: localtest.Quiet()}, w
}

func run(t *testing.T, s *addon.Sweep) wire.AddonSweepResult {
	t.Helper()
	r, err := s.SweepAddons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASweepLooksAtThoseThatAreAtRest(t *testing.T) {
	deleted := func(a *addons.Addon) { a.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time} }
	l := &looks{}
	s, w := sweepOf(t, l, []*addons.Addon{
		told("synced"), told("out-of-sync", in(addons.PhaseOutOfSync)), told("blocked", in(addons.PhaseBlocked)),
		told("syncing", in(addons.PhaseSyncing)), told("uninstalling", in(addons.PhaseUninstalling), deleted),
		told("error", in(addons.PhaseError)), told("pending", in(addons.PhasePending)), told("new", in("")),
		told("deleted", deleted),
		told("suspended", func(a *addons.Addon) { a.Spec.Suspend = true }),
		told("paused", func(a *addons.Addon) { a.Annotations = map[string]string{addons.AnnotationPaused: "true"} }),
		told("idle"), told("just-begun"),
		told("released", deleted, func(a *addons.Addon) { a.Finalizers = []string{"example.com/hold"} }),
	}, "idle", "just-begun", "released")
	w.open = map[string]bool{"just-begun": true}
	got := run(t, s)
	if diff := cmp.Diff(wire.AddonSweepResult{Addons: 14, Started: 1, Woken: 1}, got); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
	slices.Sort(l.at)
	if diff := cmp.Diff([]string{"blocked", "out-of-sync", "synced"}, l.at); diff != "" {
		t.Errorf("looked at (-want +got):\n%s", diff)
	}
	// Nothing blocks the one that says so.
	if diff := cmp.Diff([]string{"blocked", "idle"}, w.took()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

func TestASweepWakesThoseThatDiffer(t *testing.T) {
	toDo := func(l *look.Look) { l.Writes = 1 }
	blocked := func(l *look.Look) { l.Blocked = "it is Helm's" }
	planned := func(a *addons.Addon) { a.Status.Phase, a.Status.Plan.Hash = addons.PhaseOutOfSync, "h1" }
	for name, test := range map[string]struct {
		status func(*addons.Addon)
		seen   *look.Look
		woken  bool
	}{
		"nothing moved":                        {seen: seen()},
		"words about health moved":             {seen: seen(func(l *look.Look) { l.Health.Message = "as ever" })},
		"there is something to do":             {seen: seen(toDo), woken: true},
		"the plan that waits is the same":      {status: planned, seen: seen(toDo)},
		"the plan that waits is another":       {status: planned, seen: seen(toDo, func(l *look.Look) { l.Plan.Hash = "h2" }), woken: true},
		"the plan that waits has been done":    {status: planned, seen: seen(), woken: true},
		"the source has another revision":      {seen: seen(func(l *look.Look) { l.Render.Revision = "web-1.0.1" }), woken: true},
		"a version has another archive":        {seen: seen(func(l *look.Look) { l.Render.Digest = "sha256:2" }), woken: true},
		"other content needs no write":         {seen: seen(func(l *look.Look) { l.Render.Content = "c2" }), woken: true},
		"other content waits with its plan":    {status: planned, seen: seen(toDo, func(l *look.Look) { l.Render.Content = "c2" })},
		"health moved":                         {seen: seen(func(l *look.Look) { l.Health.Status = addons.HealthDegraded }), woken: true},
		"an object has become somebody else's": {status: planned, seen: seen(toDo, blocked), woken: true},
		"it is still blocked":                  {status: func(a *addons.Addon) { planned(a); in(addons.PhaseBlocked)(a) }, seen: seen(toDo, blocked)},
		"it still waits for its adoption": {
			status: func(a *addons.Addon) { planned(a); in(addons.PhaseBlocked)(a) },
			seen:   seen(toDo, func(l *look.Look) { l.Adopts = "it changes one" }),
		},
		"nothing blocks it any more": {status: func(a *addons.Addon) { planned(a); in(addons.PhaseBlocked)(a) }, seen: seen(toDo), woken: true},
		"a revision longer than a status holds": {
			status: func(a *addons.Addon) {
				a.Status.Revision = strings.Repeat("r", 1000)
				a.Status.Fit()
			},
			seen: seen(func(l *look.Look) { l.Render.Revision = strings.Repeat("r", 1000) }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := told("web")
			if test.status != nil {
				test.status(a)
			}
			s, w := sweepOf(t, &looks{others: map[string]*look.Look{"web": test.seen}}, []*addons.Addon{a})
			got := run(t, s)
			if woken := len(w.took()) == 1; woken != test.woken || got.Woken == 1 != test.woken {
				t.Errorf("woken: %v, result %+v, want woken: %v", woken, got, test.woken)
			}
		})
	}
}

func TestOneThatCannotBeLookedAtIsWokenAndKeepsNoOtherFromIt(t *testing.T) {
	l := &looks{
		fail:   map[string]error{"a": errors.New("its repository is https://user:secret@charts.example.com"), "b": errors.New("no")},
		others: map[string]*look.Look{"d": seen(func(l *look.Look) { l.Writes = 1 })},
	}
	s, w := sweepOf(t, l, []*addons.Addon{told("a"), told("b"), told("c"), told("d")})
	s.Parallel = 1
	got := run(t, s)
	if diff := cmp.Diff([]string{"a", "b", "d"}, w.took()); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	want := wire.AddonSweepResult{Addons: 4, Woken: 3, Problem: "2 add-ons cannot be looked at, the first: look at add-on a: its repository is https://***@charts.example.com"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
}

func TestASweepThatIsEndedWakesNobody(t *testing.T) {
	s, w := sweepOf(t, &looks{fail: map[string]error{"a": context.Canceled}}, []*addons.Addon{told("a")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Client = ignorant{s.Client}
	if _, err := s.SweepAddons(ctx); !errors.Is(err, context.Canceled) || len(w.took()) > 0 {
		t.Errorf("it ended with %v", err)
	}
}

// ignorant is a cache: it answers whether or not it is waited for.
type ignorant struct{ client.Reader }

func (i ignorant) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return i.Reader.List(context.WithoutCancel(ctx), list, options...)
}

func TestWhatTemporalRefusesIsAProblem(t *testing.T) {
	s, w := sweepOf(t, &looks{}, []*addons.Addon{told("a")}, "a")
	w.fail = errors.New("not now")
	if got := run(t, s); got.Started != 0 || !strings.Contains(got.Problem, "not now") {
		t.Errorf("the result is %+v", got)
	}
}
