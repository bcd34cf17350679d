package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/deploy/local/localtest"
)

func TestLookupReadsWhatHelmWould(t *testing.T) {
	w := newWorld(t)
	ns := localtest.Namespace(t, w.admin, "lookup")
	for _, name := range []string{"blue", "green"} {
		settings := &corev1.ConfigMap{}
		settings.Namespace, settings.Name = ns, name
		w.must(w.admin.Create(t.Context(), settings))
	}
	for name, c := range map[string]struct {
		q    render.Question
		want []string
	}{
		"an object":                           {ask("v1", "ConfigMap", ns, "blue"), []string{"blue"}},
		"a list":                              {ask("v1", "ConfigMap", ns, ""), []string{"blue", "green"}},
		"an empty list":                       {ask("apps/v1", "Deployment", ns, ""), []string{}},
		"a cluster-scoped object":             {ask("v1", "Namespace", "", ns), []string{ns}},
		"whose namespace is ignored":          {ask("v1", "Namespace", "default", ns), []string{ns}},
		"an object that is not there":         {ask("v1", "ConfigMap", ns, "red"), nil},
		"a namespaced object, and none given": {ask("v1", "ConfigMap", "", "blue"), nil},
		"a kind that is not served":           {ask("v1", "Gizmo", ns, "blue"), nil},
		"a group that is not served":          {ask("none.example.com/v1", "ConfigMap", ns, ""), nil},
		"a version that is not served":        {ask("apps/v1beta1", "Deployment", ns, ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := w.Lookup(t.Context(), c.q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, names(t, found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("words that are no version of an API", func(t *testing.T) {
		if _, err := w.Lookup(t.Context(), render.Question{APIVersion: "a/b/c", Kind: "Secret"}); err == nil {
			t.Error("no error")
		}
	})
}

func TestLookupReadsAsTheIdentity(t *testing.T) {
	w := newWorld(t)
	as, err := cluster.Open(w.config, "nobody-at-all")
	w.must(err)
	if _, err := as.Lookup(t.Context(), render.Question{APIVersion: "v1", Kind: "Secret", Namespace: "default"}); err == nil {
		t.Error("one without any rights has read Secrets")
	}
}

func TestScopeIsThatOfTheVersionThatIsServed(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		kind              schema.GroupVersionKind
		namespaced, known bool
	}{
		"namespaced":         {schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, true, true},
		"cluster-scoped":     {schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, false, true},
		"unknown":            {schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Gizmo"}, false, false},
		"in another version": {schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if namespaced, known := w.Scope()(c.kind); namespaced != c.namespaced || known != c.known {
				t.Errorf("namespaced %v, known %v", namespaced, known)
			}
		})
	}
}

func ask(apiVersion, kind, namespace, name string) render.Question {
	return render.Question{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

func names(t *testing.T, object map[string]any) []string {
	t.Helper()
	if object == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: object}
	if !u.IsList() {
		return []string{u.GetName()}
	}
	list, err := u.ToList()
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, item := range list.Items {
		if item.GetName() != "kube-root-ca.crt" {
			all = append(all, item.GetName())
		}
	}
	return all
}

var _ render.Lookup = (&cluster.Cluster{}).Lookup
