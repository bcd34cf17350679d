package v1alpha1_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

// read returns the objects of a file of testdata.
func read(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(o)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("decode %s: %v", name, err)
		}
		objects = append(objects, o)
	}
}

// create stores o as it stands, unknown fields refused, until the test ends.
func create(t *testing.T, c client.Client, o client.Object) error {
	t.Helper()
	if err := c.Create(t.Context(), o, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		return err
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := errors.Join(c.Patch(ctx, o, free), c.Delete(ctx, o)); err != nil {
			t.Errorf("delete %s: %v", o.GetName(), err)
		}
	})
	return nil
}

func TestObjectsAreKeptAsTheyWereWritten(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	for _, file := range []string{"reference.yaml", "full.yaml"} {
		for _, o := range read(t, file) {
			t.Run(o.GetName(), func(t *testing.T) {
				stored := o.DeepCopy()
				if err := create(t, c, stored); err != nil {
					t.Fatal(err)
				}
				if status, has := o.Object["status"]; has {
					stored.Object["status"] = status
					if err := c.Status().Update(t.Context(), stored, &client.SubResourceUpdateOptions{
						UpdateOptions: client.UpdateOptions{FieldValidation: metav1.FieldValidationStrict},
					}); err != nil {
						t.Fatal(err)
					}
				}
				want := defaulted(o)
				if diff := cmp.Diff(want["spec"], stored.Object["spec"]); diff != "" {
					t.Errorf("the spec is another (- written, + stored):\n%s", diff)
				}
				if diff := cmp.Diff(want["status"], stored.Object["status"]); diff != "" {
					t.Errorf("the status is another (- written, + stored):\n%s", diff)
				}
				typed := &addons.Addon{}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), typed); err != nil {
					t.Fatal(err)
				}
				if err := c.Update(t.Context(), typed, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
					t.Errorf("written by Fairlead it is refused: %v", err)
				}
				if err := c.Status().Update(t.Context(), typed); err != nil {
					t.Errorf("its status written by Fairlead is refused: %v", err)
				}
			})
		}
	}
}

// defaulted is what o says, with what the schema adds.
func defaulted(o *unstructured.Unstructured) map[string]any {
	want := o.DeepCopy().Object
	spec := want["spec"].(map[string]any)
	if _, has := spec["replacePolicy"]; !has {
		spec["replacePolicy"] = "Never"
	}
	sources, _ := spec["valuesFrom"].([]any)
	for _, source := range sources {
		for _, ref := range source.(map[string]any) {
			if ref := ref.(map[string]any); ref["key"] == nil {
				ref["key"] = "values.yaml"
			}
		}
	}
	return want
}

func TestContradictionsAreRefused(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	const chart = `source: {helm: {repo: "https://charts.example.com", chart: web, version: 1.0.0}}`
	helm := func(repo, version string) string {
		return `source: {helm: {repo: "` + repo + `", chart: web, version: "` + version + `"}}`
	}
	git := func(repo, path string) string { return `source: {git: {repo: "` + repo + `", path: "` + path + `"}}` }
	for name, test := range map[string]struct {
		spec string
		// object is the name of the Addon, which is web by default.
		object string
		says   string
	}{
		"no source":                         {spec: `{}`, says: "spec.source: Required value"},
		"neither chart nor folder":          {spec: `source: {}`, says: "set exactly one of source.helm and source.git"},
		"chart and folder":                  {spec: `source: {git: {repo: a/b, path: c}, helm: {repo: "https://charts.example.com", chart: web, version: 1.0.0}}`, says: "set exactly one of source.helm and source.git"},
		"no namespace":                      {spec: "namespace: ''\n" + chart, says: "spec.namespace"},
		"a namespace that cannot be":        {spec: "namespace: No_Way\n" + chart, says: "spec.namespace"},
		"a chart of a git URL":              {spec: helm("git://example.com", "1.0.0"), says: "source.helm.repo must be a URL that begins with https://, http:// or oci://"},
		"a chart of a path":                 {spec: helm("charts/web", "1.0.0"), says: "source.helm.repo must be a URL"},
		"a chart of no host":                {spec: helm("https:///charts", "1.0.0"), says: "source.helm.repo must be a URL"},
		"a password in the chart's URL":     {spec: helm("https://u:p@charts.example.com", "1.0.0"), says: "name it in source.helm.credentialsSecretRef"},
		"no version":                        {spec: helm("https://charts.example.com", ""), says: "spec.source.helm.version"},
		"a version that is none":            {spec: helm("https://charts.example.com", "$(id)"), says: "spec.source.helm.version"},
		"a chart with a name of parts":      {spec: `source: {helm: {repo: "https://charts.example.com", chart: "../web/", version: 1.0.0}}`, says: "spec.source.helm.chart"},
		"a repository of nothing":           {spec: git("gitops", "web"), says: "source.git.repo must be owner/name, a URL"},
		"a repository by ssh":               {spec: git("ssh://git.example.com/a/b", "web"), says: "source.git.repo must be owner/name, a URL"},
		"a relative file URL":               {spec: git("file://srv/git", "web"), says: "source.git.repo must be owner/name, a URL"},
		"a token in the repository's URL":   {spec: git("https://token@git.example.com/a", "web"), says: "name it in source.git.credentialsSecretRef"},
		"no path":                           {spec: git("a/b", ""), says: "spec.source.git.path"},
		"an absolute path":                  {spec: git("a/b", "/etc"), says: "source.git.path must be relative"},
		"a path out of the repository":      {spec: git("a/b", "web/../../other"), says: "source.git.path may not leave the repository"},
		"a path that ends above":            {spec: git("a/b", "web/.."), says: "source.git.path may not leave the repository"},
		"a revision that is an option":      {spec: `source: {git: {repo: a/b, path: c, revision: "--upload-pack=x"}}`, says: "spec.source.git.revision"},
		"values of a folder":                {spec: "values: 'a: 1'\n" + git("a/b", "web"), says: "values are for source.helm only"},
		"values of a Secret for a folder":   {spec: "valuesFrom: [{secretRef: {name: a}}]\n" + git("a/b", "web"), says: "valuesFrom is for source.helm only"},
		"values of nothing":                 {spec: "valuesFrom: [{}]\n" + chart, says: "set exactly one of secretRef and configMapRef"},
		"values of a Secret and a map":      {spec: "valuesFrom: [{secretRef: {name: a}, configMapRef: {name: a}}]\n" + chart, says: "set exactly one of secretRef and configMapRef"},
		"a release name that cannot be":     {spec: "releaseName: Web\n" + chart, says: "spec.releaseName"},
		"a release name that is too long":   {spec: "releaseName: " + strings.Repeat("a", 54) + "\n" + chart, says: "spec.releaseName"},
		"a name too long for a release":     {object: strings.Repeat("a", 54), spec: chart, says: "set spec.releaseName"},
		"a name too long for a label":       {object: strings.Repeat("a", 64), spec: git("a/b", "web"), says: "the name of an add-on may have 63 characters"},
		"an add-on that waits for itself":   {spec: "dependsOn: [{name: other}, {name: web}]\n" + chart, says: "an add-on cannot depend on itself"},
		"the same dependency twice":         {spec: "dependsOn: [{name: other}, {name: other}]\n" + chart, says: "Duplicate value"},
		"a replace policy that is none":     {spec: "replacePolicy: Always\n" + chart, says: `supported values: "Never", "OnApproval"`},
		"an approval that is no hash":       {spec: "approve: 'yes'\n" + chart, says: "spec.approve"},
		"a sync request below none":         {spec: "syncRequest: -1\n" + chart, says: "spec.syncRequest"},
		"a hook that ends before it began":  {spec: "hookTimeout: -1\n" + chart, says: "spec.hookTimeout"},
		"a hook longer than a day":          {spec: "hookTimeout: 86401\n" + chart, says: "spec.hookTimeout"},
		"ignored fields of no kind":         {spec: "ignoreDifferences: [{jsonPointers: [/spec]}]\n" + chart, says: "spec.ignoreDifferences[0].kind"},
		"ignored fields, and none named":    {spec: "ignoreDifferences: [{kind: Secret, jsonPointers: []}]\n" + chart, says: "spec.ignoreDifferences[0].jsonPointers"},
		"an ignored field with a dot path":  {spec: "ignoreDifferences: [{kind: Secret, jsonPointers: [.spec]}]\n" + chart, says: "spec.ignoreDifferences[0].jsonPointers[0]"},
		"an ignored field that is all":      {spec: "ignoreDifferences: [{kind: Secret, jsonPointers: ['']}]\n" + chart, says: "spec.ignoreDifferences[0].jsonPointers[0]"},
		"a field that there is not":         {spec: "autoSync: true\n" + chart, says: `unknown field "spec.autoSync"`},
		"a reference that Argo CD has only": {spec: "ignoreDifferences: [{kind: Secret, jsonPointers: [/data], managedFieldsManagers: [a]}]\n" + chart, says: "managedFieldsManagers"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{}
			if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
				t.Fatal(err)
			}
			if _, has := spec["namespace"]; !has {
				spec["namespace"] = "web"
			}
			o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			o.SetGroupVersionKind(addons.GroupVersion.WithKind("Addon"))
			if o.SetName(test.object); test.object == "" {
				o.SetName("web")
			}
			err := create(t, c, o)
			if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("create gave %v, want a refusal that says %q", err, test.says)
			}
		})
	}
}

func TestStatusOfAnOlderWriterIsRefused(t *testing.T) {
	c := localtest.Client(t, localtest.ControlPlane(t))
	a := addon("fenced")
	if err := create(t, c, a); err != nil {
		t.Fatal(err)
	}
	a.Status = addons.AddonStatus{Phase: addons.PhasePending, Sequence: 5}
	if err := c.Status().Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	older := a.DeepCopy()
	older.Status.Sequence = 4
	err := c.Status().Update(t.Context(), older)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.sequence may not go backwards") {
		t.Errorf("sequence 4 after 5 gave %v, want a refusal", err)
	}
	without := a.DeepCopy()
	without.Status = addons.AddonStatus{}
	if err := c.Status().Update(t.Context(), without); !apierrors.IsInvalid(err) {
		t.Errorf("a status without a sequence gave %v, want a refusal", err)
	}
	a.Spec.SyncRequest, a.Finalizers = 1, []string{addons.Finalizer}
	if err := c.Update(t.Context(), a); err != nil {
		t.Errorf("an edit of the spec and the finalizers is refused: %v", err)
	}
}

func addon(name string) *addons.Addon {
	return &addons.Addon{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       addons.AddonSpec{Namespace: "web", Source: addons.AddonSource{Git: &addons.GitSource{Repo: "a/b", Path: "web"}}},
	}
}
