package approve_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/addons/approve"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

const planA, planB = "aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb"

// keyed signs as the holder of a key does.
func keyed(key string) func([]byte) string {
	return func(data []byte) string {
		sum := sha256.Sum256(append([]byte(key), data...))
		return hex.EncodeToString(sum[:])
	}
}

// waiting makes an add-on whose status shows a plan; none if it is empty.
func waiting(t *testing.T, c client.Client, name, plan string) *addons.Addon {
	t.Helper()
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: addons.AddonSpec{
			Namespace: "default",
			Source:    addons.AddonSource{Git: &addons.GitSource{Repo: "example/addons", Path: "."}},
		},
	}
	if err := c.Create(t.Context(), a, client.FieldOwner("maker")); err != nil {
		t.Fatal(err)
	}
	show(t, c, a, plan)
	return a
}

// show has the status of a show a plan.
func show(t *testing.T, c client.Client, a *addons.Addon, plan string) {
	t.Helper()
	a.Status = addons.AddonStatus{Phase: addons.PhaseSynced}
	if plan != "" {
		a.Status.Phase, a.Status.Plan = addons.PhaseOutOfSync, &addons.Plan{Hash: plan}
	}
	if err := c.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// word is what Approver says.
type word struct {
	Who      string
	Verified bool
}

func wordOf(a *addons.Addon) word {
	who, verified := approve.Approver(a, keyed("right"))
	return word{who, verified}
}

func edit(t *testing.T, c client.Client, a *addons.Addon, who string, change func(*addons.Addon)) {
	t.Helper()
	before := a.DeepCopy()
	change(a)
	if err := c.Patch(t.Context(), a, client.MergeFrom(before), client.FieldOwner(who)); err != nil {
		t.Fatal(err)
	}
}

func TestAsk(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	ask := func(t *testing.T, a *addons.Addon, r approve.Request) (*addons.Addon, error) {
		t.Helper()
		return approve.Ask(t.Context(), c, a.Name, string(a.UID), r)
	}
	must := func(t *testing.T, a *addons.Addon, r approve.Request) *addons.Addon {
		t.Helper()
		got, err := ask(t, a, r)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	proved := func(who string) approve.Request { return approve.Request{Who: who, Sign: keyed("right")} }

	t.Run("the plan that the status shows", func(t *testing.T) {
		got := must(t, waiting(t, c, "shown", planA), proved("alice"))
		if got.Spec.Approve != planA {
			t.Errorf("approved %q", got.Spec.Approve)
		}
		if diff := cmp.Diff(word{"alice", true}, wordOf(got)); diff != "" {
			t.Errorf("who (-want +got):\n%s", diff)
		}
	})
	t.Run("a word that nobody proved is not verified", func(t *testing.T) {
		got := must(t, waiting(t, c, "unproved", planA), approve.Request{Plan: planA, Who: "bob"})
		if diff := cmp.Diff(word{"bob", false}, wordOf(got)); diff != "" {
			t.Errorf("who (-want +got):\n%s", diff)
		}
	})
	t.Run("asking twice writes once, and the first word stays", func(t *testing.T) {
		first := must(t, waiting(t, c, "twice", planA), proved("alice"))
		second := must(t, first, proved("bob"))
		third := must(t, first, approve.Request{Who: "carol"})
		if first.ResourceVersion != second.ResourceVersion || first.ResourceVersion != third.ResourceVersion {
			t.Error("the object was written again")
		}
	})
	t.Run("a word that is proved goes over one that is not", func(t *testing.T) {
		first := must(t, waiting(t, c, "proved-later", planA), approve.Request{Who: "bob"})
		if diff := cmp.Diff(word{"alice", true}, wordOf(must(t, first, proved("alice")))); diff != "" {
			t.Errorf("who (-want +got):\n%s", diff)
		}
	})
	t.Run("a repeated call after the plan was applied", func(t *testing.T) {
		a := must(t, waiting(t, c, "applied", planA), proved("alice"))
		show(t, c, a, "")
		must(t, a, approve.Request{Plan: planA, Who: "alice"})
		if _, err := ask(t, a, proved("alice")); !errors.Is(err, approve.ErrNothing) || !strings.Contains(err.Error(), "Synced") {
			t.Errorf("the plan that is shown: %v", err)
		}
	})
	t.Run("another plan is refused, and both are named", func(t *testing.T) {
		_, err := ask(t, waiting(t, c, "moved", planB), approve.Request{Plan: planA})
		if !errors.Is(err, approve.ErrOther) {
			t.Fatalf("error: %v", err)
		}
		for _, words := range []string{planA, planB, "fairlead addon diff moved"} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%q is not in: %v", words, err)
			}
		}
	})
	t.Run("a suspended add-on says how to go on", func(t *testing.T) {
		a := waiting(t, c, "suspended", planA)
		edit(t, c, a, "someone", func(a *addons.Addon) { a.Spec.Suspend = true })
		if _, err := ask(t, a, proved("alice")); !errors.Is(err, approve.ErrSuspended) {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("an object that is going, or gone, or another one", func(t *testing.T) {
		a := waiting(t, c, "going", planA)
		edit(t, c, a, "someone", func(a *addons.Addon) { a.Finalizers = []string{"example.com/other"} })
		if _, err := approve.Ask(t.Context(), c, a.Name, "another", proved("alice")); !errors.Is(err, approve.ErrGone) {
			t.Errorf("another: %v", err)
		}
		if err := c.Delete(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, a, proved("alice")); !errors.Is(err, approve.ErrDeleting) {
			t.Errorf("going: %v", err)
		}
		a.Name = "no-such"
		if _, err := ask(t, a, proved("alice")); !errors.Is(err, approve.ErrGone) {
			t.Errorf("gone: %v", err)
		}
	})
}

// outrun is a client before whose first patch somebody else writes.
type outrun struct {
	client.Client
	first func()
}

func (o *outrun) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if first := o.first; first != nil {
		o.first = nil
		first()
	}
	return o.Client.Patch(ctx, obj, patch, opts...)
}

func TestAPlanThatMovesMeanwhileIsNotApproved(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	a := waiting(t, c, "racing", planA)
	racing := &outrun{Client: c, first: func() { show(t, c, a, planB) }}
	if _, err := approve.Ask(t.Context(), racing, "racing", "", approve.Request{Plan: planA}); !errors.Is(err, approve.ErrOther) {
		t.Errorf("error: %v", err)
	}
	racing.first = func() {
		edit(t, c, a, "someone", func(a *addons.Addon) { a.Labels = map[string]string{"example.com/other": "kept"} })
	}
	got, err := approve.Ask(t.Context(), racing, "racing", "", approve.Request{Who: "alice"})
	if err != nil || got.Spec.Approve != planB || got.Labels["example.com/other"] != "kept" {
		t.Errorf("after a write beside it: %+v, %v", got, err)
	}
}

func TestApprover(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	signedBy := func(t *testing.T, name string, key string) *addons.Addon {
		t.Helper()
		a := waiting(t, c, name, planA)
		got, err := approve.Ask(t.Context(), c, a.Name, "", approve.Request{Who: "alice", Sign: keyed(key)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for name, test := range map[string]struct {
		made func(t *testing.T) *addons.Addon
		want word
	}{
		"nobody": {func(t *testing.T) *addons.Addon { return waiting(t, c, "nobody", planA) }, word{}},
		"kubectl": {func(t *testing.T) *addons.Addon {
			a := waiting(t, c, "by-hand", planA)
			edit(t, c, a, "kubectl-patch", func(a *addons.Addon) { a.Spec.Approve = planA })
			return a
		}, word{"kubectl-patch", false}},
		"a request to sync": {func(t *testing.T) *addons.Addon {
			a := waiting(t, c, "requested", planA)
			edit(t, c, a, "kubectl-edit", func(a *addons.Addon) { a.Spec.SyncRequest = 1 })
			return a
		}, word{"kubectl-edit", false}},
		"a request to sync, after an approval of another plan": {func(t *testing.T) *addons.Addon {
			a := signedBy(t, "requested-later", "right")
			show(t, c, a, planB)
			edit(t, c, a, "kubectl-edit", func(a *addons.Addon) { a.Spec.SyncRequest = 1 })
			return a
		}, word{"kubectl-edit", false}},
		"another key": {func(t *testing.T) *addons.Addon { return signedBy(t, "forged-key", "wrong") }, word{"alice", false}},
		"the word of one, the signature of another": {func(t *testing.T) *addons.Addon {
			a := signedBy(t, "forged-name", "right")
			edit(t, c, a, "mallory", func(a *addons.Addon) {
				a.Annotations[addons.AnnotationApprovedBy] = strings.Replace(a.Annotations[addons.AnnotationApprovedBy], "alice", "chief", 1)
			})
			return a
		}, word{"chief", false}},
		"a signature for another plan": {func(t *testing.T) *addons.Addon {
			a := signedBy(t, "forged-plan", "right")
			edit(t, c, a, "mallory", func(a *addons.Addon) {
				a.Spec.Approve = planB
				a.Annotations[addons.AnnotationApprovedBy] = strings.Replace(a.Annotations[addons.AnnotationApprovedBy], planA, planB, 1)
			})
			return a
		}, word{"alice", false}},
		"an annotation about another plan": {func(t *testing.T) *addons.Addon {
			a := signedBy(t, "stale", "right")
			edit(t, c, a, "mallory", func(a *addons.Addon) { a.Spec.Approve = planB })
			return a
		}, word{"mallory", false}},
		"a signature of another object": {func(t *testing.T) *addons.Addon {
			from, a := signedBy(t, "lender", "right"), waiting(t, c, "borrower", planA)
			edit(t, c, a, "mallory", func(a *addons.Addon) { a.Annotations, a.Spec.Approve = from.Annotations, planA })
			return a
		}, word{"alice", false}},
		"no JSON": {func(t *testing.T) *addons.Addon {
			a := signedBy(t, "no-json", "right")
			edit(t, c, a, "mallory", func(a *addons.Addon) { a.Annotations[addons.AnnotationApprovedBy] = "alice" })
			return a
		}, word{"fairlead", false}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wordOf(test.made(t))); diff != "" {
				t.Errorf("who (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongNameIsCut(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	a := waiting(t, c, "long-name", planA)
	got, err := approve.Ask(t.Context(), c, a.Name, "", approve.Request{Who: strings.Repeat("ä", 1000), Sign: keyed("right")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(word{strings.Repeat("ä", 126), true}, wordOf(got)); diff != "" {
		t.Errorf("who (-want +got):\n%s", diff)
	}
}
