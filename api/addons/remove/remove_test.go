package remove_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/addons/remove"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// cluster is a real API server with one add-on, which its finalizer keeps.
type cluster struct {
	client.Client
	t *testing.T
	// beforeDelete runs once, between the mark and the deletion.
	beforeDelete func()
	// del answers instead of the API server.
	del func(obj client.Object, opts ...client.DeleteOption) error
}

func (c *cluster) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if before := c.beforeDelete; before != nil {
		c.beforeDelete = nil
		before()
	}
	if c.del != nil {
		return c.del(obj, opts...)
	}
	return c.Client.Delete(ctx, obj, opts...)
}

func newCluster(t *testing.T, edits ...func(*addons.Addon)) *cluster {
	t.Helper()
	c := &cluster{Client: localtest.Client(t, localtest.ControlPlane(t)), t: t}
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Finalizers: []string{addons.Finalizer}},
		Spec:       addons.AddonSpec{Namespace: "demo", Source: addons.AddonSource{Git: &addons.GitSource{Repo: "/srv/apps", Path: "demo"}}},
	}
	for _, edit := range edits {
		edit(a)
	}
	if err := c.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := c.Client.Delete(ctx, &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if err := c.Patch(ctx, &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}, patch); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *cluster) read() *addons.Addon {
	c.t.Helper()
	var a addons.Addon
	if err := c.Get(c.t.Context(), client.ObjectKey{Name: "demo"}, &a); err != nil {
		c.t.Fatal(err)
	}
	return &a
}

// patch is what somebody else writes.
func (c *cluster) patch(text string) {
	c.t.Helper()
	a := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	if err := c.Patch(c.t.Context(), a, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		c.t.Fatal(err)
	}
}

// is checks whether the add-on is being deleted, and whether with its objects.
func (c *cluster) is(deleting, marked bool) {
	c.t.Helper()
	a := c.read()
	if got := !a.DeletionTimestamp.IsZero(); got != deleting || a.Uninstalls() != marked {
		c.t.Errorf("deleting: %t, marked: %t, want %t, %t", got, a.Uninstalls(), deleting, marked)
	}
}

func marked(a *addons.Addon) {
	a.Annotations = map[string]string{addons.AnnotationUninstall: "true"}
}

const (
	takeMarkOff = `{"metadata":{"annotations":{"rendimiento.ai/uninstall":null}}}`
	edit        = `{"spec":{"title":"edited"}}`
)

func TestAnAddonIsDeletedAsWasAsked(t *testing.T) {
	for name, test := range map[string]struct {
		edits     []func(*addons.Addon)
		uninstall bool
		between   string
	}{
		"with its objects":                               {uninstall: true},
		"without them":                                   {},
		"without them, though a mark was left":           {edits: []func(*addons.Addon){marked}},
		"with them, and a mark was left":                 {edits: []func(*addons.Addon){marked}, uninstall: true},
		"though somebody edits it meanwhile":             {uninstall: true, between: edit},
		"though somebody takes the mark off meanwhile":   {uninstall: true, between: takeMarkOff},
		"without them, though somebody edits it then":    {between: edit},
		"without them, though somebody marks it by then": {between: `{"metadata":{"annotations":{"rendimiento.ai/uninstall":"true"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.edits...)
			if test.between != "" {
				c.beforeDelete = func() { c.patch(test.between) }
			}
			for range 2 { // asking again is no error
				a, err := remove.Ask(t.Context(), c, "demo", test.uninstall)
				if err != nil || a.Name != "demo" {
					t.Fatalf("%v, %v", a, err)
				}
			}
			c.is(true, test.uninstall)
		})
	}
}

func TestADeletionIsNotTurnedIntoAnother(t *testing.T) {
	for name, first := range map[string]bool{"that keeps the objects": false, "that removes them": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if _, err := remove.Ask(t.Context(), c, "demo", first); err != nil {
				t.Fatal(err)
			}
			a, err := remove.Ask(t.Context(), c, "demo", !first)
			if !errors.Is(err, remove.ErrDeleting) || a == nil || a.Uninstalls() != first {
				t.Errorf("%+v, %v", a, err)
			}
			c.is(true, first)
		})
	}
}

func TestWhatCannotBeDeleted(t *testing.T) {
	c := newCluster(t, func(a *addons.Addon) {
		a.Labels = map[string]string{addons.LabelGitOps: "true"}
		a.Annotations = map[string]string{addons.AnnotationSource: "addons/demo.yaml@1234"}
	})
	before := c.read().ResourceVersion
	a, err := remove.Ask(t.Context(), c, "demo", true)
	if !errors.Is(err, remove.ErrGit) || a == nil || a.Annotations[addons.AnnotationSource] != "addons/demo.yaml@1234" {
		t.Errorf("of git: %+v, %v", a, err)
	}
	if after := c.read().ResourceVersion; after != before {
		t.Error("it was written to")
	}
	if _, err := remove.Ask(t.Context(), c, "none", true); !errors.Is(err, remove.ErrGone) {
		t.Errorf("of another name: %v", err)
	}
}

func TestAMarkDoesNotOutliveADeletionThatFailed(t *testing.T) {
	broken := errors.New("connection refused")
	for name, test := range map[string]struct {
		edits       []func(*addons.Addon)
		uninstall   bool
		staysMarked bool
	}{
		"ours is taken off":                    {uninstall: true},
		"somebody's stays":                     {edits: []func(*addons.Addon){marked}, uninstall: true, staysMarked: true},
		"one that was taken off does not come": {edits: []func(*addons.Addon){marked}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.edits...)
			c.del = func(client.Object, ...client.DeleteOption) error { return broken }
			if _, err := remove.Ask(t.Context(), c, "demo", test.uninstall); !errors.Is(err, broken) {
				t.Errorf("error = %v", err)
			}
			c.is(false, test.staysMarked)
		})
	}
	t.Run("also when nobody waits any more", func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		c.del = func(client.Object, ...client.DeleteOption) error { cancel(); return ctx.Err() }
		if _, err := remove.Ask(ctx, c, "demo", true); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		c.is(false, false)
	})
}

func TestADeletionWhoseAnswerWasLost(t *testing.T) {
	lost := errors.New("unexpected EOF")
	t.Run("stays what it was", func(t *testing.T) {
		c := newCluster(t)
		c.del = func(obj client.Object, opts ...client.DeleteOption) error {
			return errors.Join(lost, c.Client.Delete(t.Context(), obj, opts...))
		}
		if _, err := remove.Ask(t.Context(), c, "demo", true); !errors.Is(err, lost) {
			t.Errorf("error = %v", err)
		}
		c.is(true, true)
	})
	t.Run("does nothing if it comes after the mark was taken off", func(t *testing.T) {
		c := newCluster(t)
		var late func() error
		c.del = func(obj client.Object, opts ...client.DeleteOption) error {
			late = func() error { return c.Client.Delete(t.Context(), obj, opts...) }
			return lost
		}
		if _, err := remove.Ask(t.Context(), c, "demo", true); !errors.Is(err, lost) {
			t.Errorf("error = %v", err)
		}
		if err := late(); !apierrors.IsConflict(err) {
			t.Errorf("the late deletion: %v", err)
		}
		c.is(false, false)
	})
}

func TestTheAddonIsNotTheOneThatTookItsName(t *testing.T) {
	c := newCluster(t, func(a *addons.Addon) { a.Finalizers = nil })
	c.beforeDelete = func() {
		if err := c.Client.Delete(t.Context(), c.read()); err != nil {
			t.Fatal(err)
		}
		other := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Spec: addons.AddonSpec{Namespace: "demo", Source: addons.AddonSource{Git: &addons.GitSource{Repo: "/srv/apps", Path: "demo"}}}}
		if err := c.Create(t.Context(), other); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := remove.Ask(t.Context(), c, "demo", true); !errors.Is(err, remove.ErrGone) {
		t.Errorf("error = %v", err)
	}
	c.is(false, false)
}

// TestTwoWhoDisagree: one of them is refused, and what the other asked for is done.
func TestTwoWhoDisagree(t *testing.T) {
	for range 10 {
		c := newCluster(t)
		errs := map[bool]error{}
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, uninstall := range []bool{true, false} {
			all.Go(func() {
				_, err := remove.Ask(t.Context(), c, "demo", uninstall)
				mu.Lock()
				defer mu.Unlock()
				errs[uninstall] = err
			})
		}
		all.Wait()
		won := errs[true] == nil
		if (errs[false] == nil) == won || !errors.Is(errs[!won], remove.ErrDeleting) || !strings.Contains(errs[!won].Error(), "delete Addon demo") {
			t.Fatalf("uninstalling: %v, keeping: %v", errs[true], errs[false])
		}
		c.is(true, won)
		c.patch(`{"metadata":{"finalizers":null}}`)
	}
}
