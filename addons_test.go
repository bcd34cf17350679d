package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

func TestAnInstallationWithoutWhatAddOnsNeedIsToldTheRemedy(t *testing.T) {
	config := localtest.ControlPlane(t)
	live := localtest.Client(t, config)
	if err := checkSystemNamespace(t.Context(), live, "nowhere"); err == nil ||
		!strings.Contains(err.Error(), `no namespace "nowhere" (--system-namespace)`) || !strings.Contains(err.Error(), "kubectl apply -f deploy/rbac") {
		t.Errorf("a namespace that is not there: %v", err)
	}
	namespace := localtest.Namespace(t, live, "system")
	if err := checkSystemNamespace(t.Context(), live, namespace); err != nil {
		t.Errorf("a namespace that is there: %v", err)
	}

	s := addonSettings{system: namespace}
	worker := asAccount(t, live, config, namespace, "worker")
	c, err := cluster.Open(worker, s.identity())
	if err != nil {
		t.Fatal(err)
	}
	err = checkIdentity(t.Context(), c.Client, s.identity())
	for _, word := range []string{"may not act as system:serviceaccount:" + namespace + ":rendimiento-addons", "kubectl apply -f deploy/rbac", "--only proxies"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("without the right to impersonate: %v, want it to say %q", err, word)
		}
	}
	allow := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"}}},
	}
	bind := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "worker"}},
	}
	for _, o := range []client.Object{allow, bind} {
		if err := live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	eventually.Sees(t, "the right counts", time.Minute, func() (bool, string) {
		err := checkIdentity(t.Context(), c.Client, s.identity())
		return err == nil, fmt.Sprint(err)
	})
}

// asAccount is the access of a new service account.
func asAccount(t *testing.T, live client.Client, config *rest.Config, namespace, name string) *rest.Config {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := live.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return withToken(t, live, config, account)
}

// withToken is the access of a service account, as a pod has it.
func withToken(t *testing.T, live client.Client, config *rest.Config, account *corev1.ServiceAccount) *rest.Config {
	t.Helper()
	token := &authenticationv1.TokenRequest{}
	if err := live.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	limited := rest.AnonymousClientConfig(config)
	limited.BearerToken = token.Status.Token
	return limited
}

func TestTheCacheIsOfOneProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	first, err := lockCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockCache(dir); !errors.Is(err, errCacheInUse) {
		t.Errorf("a second lock gave %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockCache(dir)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lockCache(file); err == nil {
		t.Error("a file is locked as a directory")
	}
}
