package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/internal/eventually"
)

// publish makes a repository of dir, with the file in it.
func publish(t *testing.T, dir, file, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=change"},
	} {
		cmd := exec.Command("git", args...) // #nosec G204 -- of the test
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func aConfigMap(namespace, name, page string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {page: %s}\n", name, namespace, page)
}

// ofFairlead is the access that a part has in an installation as deploy/rbac has it.
func ofFairlead(t *testing.T, live client.Client, config *rest.Config) *rest.Config {
	t.Helper()
	if err := controlplane.Apply(t.Context(), config, deploy.Files, "rbac/*.yaml"); err != nil {
		t.Fatal(err)
	}
	return withToken(t, live, config, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "fairlead-system", Name: "fairlead"}})
}

// TestAddOnsNeedTheRightsOfTheirServiceAccountOnly keeps an add-on with parts of their own,
// which have no other rights, from its first sync to its end.
func TestAddOnsNeedTheRightsOfTheirServiceAccountOnly(t *testing.T) {
	config := localtest.ControlPlane(t)
	live := localtest.Client(t, config)
	limited := ofFairlead(t, live, config)
	ns := localtest.Namespace(t, live, "addons")
	temporal, namespace := localtest.Temporal(t)
	said := map[string]*output{
		"worker":  launchPart(t, "worker", limited, temporal, namespace, "--only", "addons", "--cache-dir", t.TempDir()),
		"starter": launchPart(t, "starter", limited, temporal, namespace, "--only", "addons", "--addon-sweep-interval", "1s", "--leader-elect", "--leader-election-namespace", "fairlead-system"),
	}
	dir := t.TempDir()
	publish(t, dir, "page.yaml", aConfigMap(ns, "page", "hello"))
	a := &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: ns, Annotations: map[string]string{addons.AnnotationUninstall: "true"}},
		Spec:       addons.AddonSpec{Namespace: ns, Source: addons.AddonSource{Git: &addons.GitSource{Repo: "file://" + dir, Path: "."}}},
	}
	if err := live.Create(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if ended {
			return
		}
		for part, out := range said {
			t.Logf("the %s said\n%s", part, out)
		}
		a := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		ctx := context.WithoutCancel(t.Context())
		if err := live.Patch(ctx, a, free); err == nil {
			_ = live.Delete(ctx, a) // it may be gone already
		}
	})

	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "page"}}
	shows := func(want string) {
		t.Helper()
		eventually.Sees(t, "the add-on is Synced and the page says "+want, time.Minute, func() (bool, string) {
			if err := live.Get(t.Context(), client.ObjectKeyFromObject(a), a); err != nil {
				return false, err.Error()
			}
			err := live.Get(t.Context(), client.ObjectKeyFromObject(page), page)
			return err == nil && a.ReadyForDependents() && page.Data["page"] == want, fmt.Sprintf("%v, %v, %+v", err, page.Data, a.Status)
		})
	}
	shows("hello")
	if m := page.ManagedFields; len(m) != 1 || m[0].Manager != addons.FieldManager {
		t.Errorf("who wrote it is %+v", m)
	}

	// Nothing but a sweep tells of these.
	publish(t, dir, "page.yaml", aConfigMap(ns, "page", "again"))
	shows("again")
	page.Data["page"] = "by hand"
	if err := live.Update(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	shows("again")

	if err := live.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	eventually.Sees(t, "the add-on is gone", time.Minute, func() (bool, string) {
		err := live.Get(t.Context(), client.ObjectKeyFromObject(a), a)
		return apierrors.IsNotFound(err), fmt.Sprintf("%v %+v", err, a.Status)
	})
	if err := live.Get(t.Context(), client.ObjectKeyFromObject(page), page); !apierrors.IsNotFound(err) {
		t.Errorf("its object is there: %v", err)
	}
	ended = true
	for part, out := range said {
		if text := out.String(); strings.Contains(text, "forbidden") {
			t.Errorf("the %s may not do all that it does:\n%s", part, text)
		}
	}
}
