package deploy_test

import (
	"crypto/rand"
	"os"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/setstore"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

const system = "fairlead-system"

// account gives the access of a service account of deploy/rbac, as a pod has it: with a
// token, for whoever impersonates already may not impersonate once more.
func account(t *testing.T, name string) *rest.Config {
	t.Helper()
	config := localtest.ControlPlane(t)
	if err := controlplane.Apply(t.Context(), config, deploy.Files, "rbac/*.yaml"); err != nil {
		t.Fatal(err)
	}
	token := &authenticationv1.TokenRequest{}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}}
	if err := localtest.Client(t, config).SubResource("token").Create(t.Context(), of, token); err != nil {
		t.Fatal(err)
	}
	limited := rest.AnonymousClientConfig(config)
	limited.BearerToken = token.Status.Token
	return limited
}

const addonAccount = "system:serviceaccount:" + system + ":rendimiento-addons"

func TestTheWorkerActsAsTheAddOnAccountAndAsNobodyElse(t *testing.T) {
	worker := account(t, "fairlead")
	elsewhere := localtest.Namespace(t, localtest.Client(t, localtest.ControlPlane(t)), "elsewhere")
	for name, test := range map[string]struct {
		as      rest.ImpersonationConfig
		allowed bool
	}{
		"the add-on account":                {as: rest.ImpersonationConfig{UserName: addonAccount}, allowed: true},
		"an administrator":                  {as: rest.ImpersonationConfig{UserName: "kubernetes-admin"}},
		"a controller":                      {as: rest.ImpersonationConfig{UserName: "system:serviceaccount:kube-system:clusterrole-aggregation-controller"}},
		"another account of its namespace":  {as: rest.ImpersonationConfig{UserName: "system:serviceaccount:fairlead-system:default"}},
		"the same name in another one":      {as: rest.ImpersonationConfig{UserName: "system:serviceaccount:" + elsewhere + ":rendimiento-addons"}},
		"the add-on account and the rulers": {as: rest.ImpersonationConfig{UserName: addonAccount, Groups: []string{"system:masters"}}},
	} {
		t.Run(name, func(t *testing.T) {
			config := rest.CopyConfig(worker)
			config.Impersonate = test.as
			// Whoever one is may be asked by everybody.
			who := &authenticationv1.SelfSubjectReview{}
			err := localtest.Client(t, config).Create(t.Context(), who)
			if test.allowed && (err != nil || who.Status.UserInfo.Username != test.as.UserName) {
				t.Errorf("the worker is %s (%v)", who.Status.UserInfo.Username, err)
			}
			if !test.allowed && !apierrors.IsForbidden(err) {
				t.Errorf("the worker is %s (%v), want a refusal", who.Status.UserInfo.Username, err)
			}
		})
	}
}

func TestOnlyTheAddOnAccountHasAllRights(t *testing.T) {
	worker := account(t, "fairlead")
	addonWorker := rest.CopyConfig(worker)
	addonWorker.Impersonate.UserName = addonAccount
	// Only who has all rights may give them away.
	everything := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "everything-"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	if err := localtest.Client(t, worker).Create(t.Context(), everything.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("the worker itself gives all rights away: %v", err)
	}
	if err := localtest.Client(t, addonWorker).Create(t.Context(), everything.DeepCopy()); err != nil {
		t.Errorf("the account of add-ons may not install a role: %v", err)
	}
}

func TestTheWorkerKeepsAddonsAndMakesNone(t *testing.T) {
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"},
		Spec:       addons.AddonSpec{Namespace: "web", Source: addons.AddonSource{Git: &addons.GitSource{Repo: "a/b", Path: "web"}}},
	}
	worker := localtest.Client(t, account(t, "fairlead"))
	if err := worker.Create(t.Context(), a.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("it makes an Addon: %v", err)
	}
	if err := localtest.Client(t, localtest.ControlPlane(t)).Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	before := a.DeepCopy()
	a.Finalizers = []string{addons.Finalizer}
	if err := worker.Patch(t.Context(), a, client.MergeFrom(before)); err != nil {
		t.Errorf("put the finalizer on: %v", err)
	}
	a.Status = addons.AddonStatus{Phase: addons.PhaseSynced, Sequence: 1}
	if err := worker.Status().Update(t.Context(), a); err != nil {
		t.Errorf("publish a status: %v", err)
	}
	if err := worker.List(t.Context(), &addons.AddonList{}); err != nil {
		t.Errorf("list: %v", err)
	}
	watched, err := worker.Watch(t.Context(), &addons.AddonList{})
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	watched.Stop()
	if err := worker.Delete(t.Context(), a); err != nil { // as the HTTP API is asked to
		t.Errorf("delete: %v", err)
	}
	if err := worker.Get(t.Context(), client.ObjectKeyFromObject(a), a); err != nil {
		t.Fatal(err)
	}
	a.Finalizers = nil
	if err := worker.Update(t.Context(), a); err != nil {
		t.Errorf("take the finalizer off: %v", err)
	}
}

// TestTheWorkerHasWhatAddOnsNeedBesideTheirObjects does as the engine does: with the rights
// of the component itself.
func TestTheWorkerHasWhatAddOnsNeedBesideTheirObjects(t *testing.T) {
	live := localtest.Client(t, localtest.ControlPlane(t))
	worker := localtest.Client(t, account(t, "fairlead"))
	sets, err := setstore.Open(t.Context(), setstore.Options{Client: worker, Namespace: system, Clock: clock.RealClock{}, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("a plan")
	digest, err := sets.Put(t.Context(), "web", setstore.Plan, data)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sets.Get(t.Context(), digest); err != nil || string(got) != string(data) {
		t.Errorf("what was put is %q, %v", got, err)
	}
	if err := sets.Drop(t.Context(), "web"); err != nil {
		t.Errorf("drop what is kept of an add-on: %v", err)
	}

	elsewhere := localtest.Namespace(t, live, "elsewhere")
	for namespace, allowed := range map[string]bool{system: true, elsewhere: false} {
		values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "values"}}
		if err := live.Create(t.Context(), values); err != nil {
			t.Fatal(err)
		}
		err := worker.Get(t.Context(), client.ObjectKeyFromObject(values), values)
		if allowed && err != nil || !allowed && !apierrors.IsForbidden(err) {
			t.Errorf("reading values of namespace %s gave %v, want it allowed: %v", namespace, err, allowed)
		}
		if err := worker.Delete(t.Context(), values); !apierrors.IsForbidden(err) {
			t.Errorf("deleting them gave %v", err)
		}
	}
}
