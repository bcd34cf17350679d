package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/api/server"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// TestTheAPIReadsThePlansOfTheSetStore whose namespace is made later than the API is started.
func TestTheAPIReadsThePlansOfTheSetStore(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	const namespace = "api-addons"
	sets := &addonSets{client: c, namespace: namespace}
	a := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Status: addons.AddonStatus{Sets: &addons.Sets{Plan: "0"}}}
	if _, err := sets.Plan(t.Context(), a); err == nil || errors.Is(err, server.ErrNoPlan) {
		t.Errorf("without the namespace: %v", err)
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	if _, err := sets.Plan(t.Context(), a); !errors.Is(err, server.ErrNoPlan) {
		t.Errorf("of no set: %v", err)
	}
	if _, err := sets.Plan(t.Context(), &addons.Addon{}); !errors.Is(err, server.ErrNoPlan) {
		t.Errorf("without a digest: %v", err)
	}

	worker, err := setstore.Open(t.Context(), setstore.Options{Client: c, Namespace: namespace, Clock: clock.RealClock{}, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	job := manifest.ID{GroupKind: schema.GroupKind{Group: "batch", Kind: "Job"}, Namespace: "ns", Name: "check"}
	digest, err := kept.Store{Store: worker}.PutPlan(t.Context(), "demo", kept.Plan{Plan: plan.Plan{
		Hash: "hash", Counts: plan.Counts{Update: 1, Blocked: 1},
		Items: []plan.Item{{ID: job, Version: "v1", Action: plan.Update, UID: "uid", Hash: "item", Diff: "+1", Blocked: "no", Owner: "Helm", Adopts: true}},
		Hooks: []plan.Hook{{ID: job, Events: []manifest.Event{"pre-install"}, Weight: 3, Hash: "hook"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.Status.Sets.Plan = string(digest)
	got, err := sets.Plan(t.Context(), a)
	ref := addons.ObjectRef{Group: "batch", Version: "v1", Kind: "Job", Namespace: "ns", Name: "check"}
	hook := ref
	hook.Version = ""
	want := server.Plan{
		Hash: "hash", Counts: server.PlanCounts{Update: 1, Blocked: 1},
		Items: []server.PlanItem{{ObjectRef: ref, Action: "update", Diff: "+1", Blocked: "no", Owner: "Helm", Adopts: true}},
		Hooks: []server.PlanHook{{ObjectRef: hook, Events: []string{"pre-install"}, Weight: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	sign, err := sets.Signer(t.Context())
	if err != nil || sign([]byte("x")) != worker.Hash([]byte("x")) {
		t.Errorf("the API signs otherwise than the worker reads: %v", err)
	}
}

// addonsAreServed asks a running API for an add-on: its cache, the set store and the object
// take the rights that it has.
func addonsAreServed(t *testing.T, live client.Client, address, bearer string) {
	t.Helper()
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: "served"},
		Spec:       addons.AddonSpec{Namespace: "served", Suspend: true, Source: addons.AddonSource{Git: &addons.GitSource{Repo: "/nowhere", Path: "."}}},
	}
	if err := live.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/v1/addons"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	eventually.Sees(t, "the add-on is in the list", time.Minute, func() (bool, string) {
		code, text := ask(http.MethodGet, "")
		return code == http.StatusOK && strings.Contains(text, `"name":"served"`), fmt.Sprint(code, " ", text)
	})
	if code, text := ask(http.MethodPost, "/served/sync"); code != http.StatusConflict || !strings.Contains(text, `"suspended"`) {
		t.Errorf("sync: %d %s", code, text)
	}
	if code, text := ask(http.MethodDelete, "/served?uninstall=true"); code != http.StatusAccepted {
		t.Errorf("delete: %d %s", code, text)
	}
	eventually.Sees(t, "the add-on is deleted, and was marked", time.Minute, func() (bool, string) {
		err := live.Get(t.Context(), client.ObjectKeyFromObject(a), a)
		return apierrors.IsNotFound(err) || !a.DeletionTimestamp.IsZero() && a.Uninstalls(), fmt.Sprintf("%v %+v", err, a.ObjectMeta)
	})
}
