package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/releaseutil"
)

func ofKinds(t *testing.T, apiVersionsAndKinds ...string) []Object {
	t.Helper()
	var lines []string
	for i := 0; i < len(apiVersionsAndKinds); i += 2 {
		lines = append(lines, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: n%d}}", apiVersionsAndKinds[i], apiVersionsAndKinds[i+1], i/2))
	}
	return parsed(t, lines...)
}

func stageWords(stages [][]Object) [][]string {
	var all [][]string
	for _, stage := range stages {
		all = append(all, words(stage))
	}
	return all
}

func TestStagesInstallWhatOthersNeedFirst(t *testing.T) {
	objects := ofKinds(t,
		"example.com/v1", "Widget", "apps/v1", "Deployment", "v1", "Service", "example.com/v1", "Gadget", "v1", "ConfigMap",
		"apiextensions.k8s.io/v1", "CustomResourceDefinition", "v1", "ConfigMap", "v1", "Namespace", "scheduling.k8s.io/v1", "PriorityClass")
	want := [][]string{
		{"CustomResourceDefinition.apiextensions.k8s.io n5", "Namespace n7"},
		{"PriorityClass.scheduling.k8s.io n8"},
		{"ConfigMap n4", "ConfigMap n6"},
		{"Service n2"},
		{"Deployment.apps n1"},
		{"Gadget.example.com n3"},
		{"Widget.example.com n0"},
	}
	if diff := cmp.Diff(want, stageWords(Stages(objects))); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if got := Stages(nil); len(got) != 0 {
		t.Errorf("nothing has the stages %v", got)
	}
}

func TestUninstallStagesDeleteCustomResourcesBeforeTheirOperator(t *testing.T) {
	objects := ofKinds(t,
		"v1", "Namespace", "apps/v1", "Deployment", "serving.knative.dev/v1", "Service", "v1", "Service", "v1", "ServiceAccount",
		"example.com/v1", "Widget", "apiregistration.k8s.io/v1", "APIService")
	objects = append(objects, parsed(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: d},
  spec: {group: x.k8s.io, scope: Namespaced, names: {kind: Role}}}`, "{apiVersion: x.k8s.io/v1, kind: Role, metadata: {name: r}}")...)
	want := [][]string{
		{"Widget.example.com n5", "Service.serving.knative.dev n2", "Role.x.k8s.io r"},
		{"APIService.apiregistration.k8s.io n6"},
		{"Deployment.apps n1"},
		{"Service n3"},
		{"ServiceAccount n4"},
		{"Namespace n0", "CustomResourceDefinition.apiextensions.k8s.io d"},
	}
	if diff := cmp.Diff(want, stageWords(UninstallStages(objects))); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestInstallOrderIsHelms(t *testing.T) {
	var helms []string
	for _, kind := range releaseutil.InstallOrder {
		if _, isList, _ := itemsOf(map[string]any{"kind": kind, "items": nil}); !isList {
			helms = append(helms, kind)
		}
	}
	if diff := cmp.Diff(helms, installOrder); diff != "" {
		t.Errorf("kinds (-Helm +ours):\n%s", diff)
	}
}
