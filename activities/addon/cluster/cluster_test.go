package cluster_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	authentication "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/deploy/local/localtest"
)

func TestTheAPIServerSeesTheIdentity(t *testing.T) {
	w := newWorld(t)
	const identity = "system:serviceaccount:fairlead-system:rendimiento-addons"
	as, err := cluster.Open(w.config, identity)
	w.must(err)
	want := authentication.UserInfo{
		Username: identity,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:fairlead-system", "system:authenticated"},
	}

	var typed authentication.SelfSubjectReview
	w.must(as.Client.Create(t.Context(), &typed))
	if diff := cmp.Diff(want, typed.Status.UserInfo); diff != "" {
		t.Errorf("the typed client is (-want +got):\n%s", diff)
	}
	raw, err := as.Dynamic.Resource(authentication.SchemeGroupVersion.WithResource("selfsubjectreviews")).Create(t.Context(),
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}, metav1.CreateOptions{})
	w.must(err)
	var untyped authentication.SelfSubjectReview
	w.must(runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, &untyped))
	if diff := cmp.Diff(want, untyped.Status.UserInfo); diff != "" {
		t.Errorf("the dynamic client is (-want +got):\n%s", diff)
	}
	if w.config.Impersonate.UserName != "" {
		t.Error("the access that was handed over acts as the identity now")
	}
}

func TestWithoutAnIdentityNobodyElseActs(t *testing.T) {
	w := newWorld(t)
	var mine, its authentication.SelfSubjectReview
	w.must(w.admin.Create(t.Context(), &mine))
	w.must(w.Client.Create(t.Context(), &its))
	if diff := cmp.Diff(mine.Status.UserInfo.Username, its.Status.UserInfo.Username); diff != "" {
		t.Errorf("(-own +got):\n%s", diff)
	}
}

func TestChartsAreToldWhatHelmTellsThem(t *testing.T) {
	w := newWorld(t)
	caps, partial, err := w.Capabilities(t.Context())
	if err != nil || partial != "" {
		t.Fatalf("partial %q, %v", partial, err)
	}
	if diff := cmp.Diff(helmTells(t, w.config), caps); diff != "" {
		t.Errorf("(-Helm +here):\n%s", diff)
	}
}

// helmTells has a chart print what Helm tells it of the cluster.
func helmTells(t *testing.T, config *rest.Config) render.Capabilities {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: told\nversion: 1.0.0\n",
		"templates/told.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: told}
data: {told: {{ dict "kubeVersion" .Capabilities.KubeVersion.Version "apiVersions" (.Capabilities.APIVersions | sortAlpha) | toJson | quote }}}
`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(localtest.Dir(t), "helm"), "template", "told", dir, "--validate", "--kubeconfig", localtest.Kubeconfig(t, config))
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm, which deploy/tools/build.sh builds: %v", err)
	}
	var printed corev1.ConfigMap
	if err := yaml.Unmarshal(out, &printed); err != nil {
		t.Fatal(err)
	}
	var told render.Capabilities
	if err := json.Unmarshal([]byte(printed.Data["told"]), &told); err != nil {
		t.Fatal(err)
	}
	return told
}
