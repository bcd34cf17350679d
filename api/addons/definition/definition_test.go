package definition_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/api/addons/definition"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

const longhorn = `# addons/longhorn.yaml
name: longhorn
title: Longhorn
category: storage
namespace: longhorn-system
createNamespace: true
helm:
  repo: https://charts.longhorn.io/
  chart: longhorn
  version: v1.10.2
releaseName: longhorn        # keeps the name of a migrated install
values:
  preUpgradeChecker:
    jobEnabled: false
adopt: true                  # takes over what runs (only if nothing changes)
manualSync: true             # changes wait for a sync after a review
prune: false
`

const umami = `name: umami
namespace: umami
git:
  path: umami                # a kustomization, or plain YAML files
adopt: true
prune: true
`

const full = `
name: full
title: Full
category: web
description: |
  It has all fields.
namespace: web
createNamespace: yes
helm: {repo: "oci://registry.example.com/charts", chart: web/front, version: ">=1.2 <2", credentialsSecretRef: {name: registry}}
releaseName: web.front
values: &values {replicas: 3}
valuesFrom:
- secretRef: {name: web}
- configMapRef: {name: web, key: more.yaml, optional: true}
adopt: true
allowAdoptChanges: true
prune: true
replacePolicy: OnApproval
ignoreDifferences:
- {group: apps, kind: Deployment, namespace: web, name: web, jsonPointers: [/spec/replicas, /metadata/annotations/a~1b]}
dependsOn: [{name: longhorn}, {name: umami}]
manualSync: true
suspend: true
skipHooks: true
hookTimeout: 900
`

// base is a definition that all is well with, to which a test adds lines.
const base = "name: web\nnamespace: web\n"

const chart = "helm: {repo: 'https://charts.example.com', chart: web, version: 1.0.0}\n"

func git(field string) string { return base + "git: {path: web, " + field + "}\n" }

func TestDefinitionsAreReadAsTheyAreWritten(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want addons.AddonSpec
	}{
		"longhorn": {text: longhorn, want: addons.AddonSpec{
			Title: "Longhorn", Category: "storage", Namespace: "longhorn-system", CreateNamespace: true,
			Source:      addons.AddonSource{Helm: &addons.HelmSource{Repo: "https://charts.longhorn.io/", Chart: "longhorn", Version: "v1.10.2"}},
			ReleaseName: "longhorn", Values: "preUpgradeChecker:\n  jobEnabled: false\n", Adopt: true, ManualSync: true,
		}},
		"umami": {text: umami, want: addons.AddonSpec{
			Namespace: "umami", Source: addons.AddonSource{Git: &addons.GitSource{Path: "umami"}}, Adopt: true, Prune: true,
		}},
		"full": {text: full, want: addons.AddonSpec{
			Title: "Full", Category: "web", Description: "It has all fields.\n", Namespace: "web", CreateNamespace: true,
			Source: addons.AddonSource{Helm: &addons.HelmSource{
				Repo: "oci://registry.example.com/charts", Chart: "web/front", Version: ">=1.2 <2",
				CredentialsSecretRef: &addons.SecretRef{Name: "registry"},
			}},
			ReleaseName: "web.front", Values: "replicas: 3\n",
			ValuesFrom: []addons.ValuesSource{
				{SecretRef: &addons.ValuesRef{Name: "web"}},
				{ConfigMapRef: &addons.ValuesRef{Name: "web", Key: "more.yaml", Optional: true}},
			},
			Adopt: true, AllowAdoptChanges: true, Prune: true, ReplacePolicy: addons.ReplaceOnApproval,
			IgnoreDifferences: []addons.IgnoredDifference{{
				Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web", JSONPointers: []string{"/spec/replicas", "/metadata/annotations/a~1b"},
			}},
			DependsOn:  []addons.Dependency{{Name: "longhorn"}, {Name: "umami"}},
			ManualSync: true, Suspend: true, SkipHooks: true, HookTimeout: 900,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := definition.Parse(name+".yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			want := &addons.Addon{
				TypeMeta:   metav1.TypeMeta{APIVersion: "rendimiento.ai/v1alpha1", Kind: "Addon"},
				ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: test.want,
			}
			if diff := cmp.Diff(want, d.Addon()); diff != "" {
				t.Errorf("it defines another add-on (- wanted, + read):\n%s", diff)
			}
			serverTakes(t, d)
		})
	}
}

// TestEveryFieldOfTheSpecIsInADefinition has the definition above grow with the spec.
func TestEveryFieldOfTheSpecIsInADefinition(t *testing.T) {
	d, err := definition.Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for i, spec := 0, reflect.ValueOf(d.Spec); i < spec.NumField(); i++ {
		switch name := spec.Type().Field(i).Name; {
		case name == "Approve" || name == "SyncRequest":
			if !spec.Field(i).IsZero() {
				t.Errorf("%s is set by a file", name)
			}
		case spec.Field(i).IsZero():
			t.Errorf("%s is not set by the file that has all fields", name)
		}
	}
}

func TestAddonSharesNothingWithItsDefinition(t *testing.T) {
	d, err := definition.Parse("umami.yaml", []byte(umami))
	if err != nil {
		t.Fatal(err)
	}
	d.Addon().Spec.Source.Git.Repo = "a/b"
	if repo := d.Addon().Spec.Source.Git.Repo; repo != "" {
		t.Errorf("the next object has the repository %s of the one before", repo)
	}
}

// serverTakes stores the Addon of a definition, unknown fields refused.
func serverTakes(t *testing.T, d *definition.Definition) {
	t.Helper()
	a := d.Addon()
	if err := store(t, a); err != nil {
		t.Errorf("the API server refuses it: %v", err)
	}
}

// store creates an Addon and deletes it again, so that the next one may have its name.
func store(t *testing.T, a *addons.Addon) error {
	t.Helper()
	c := localtest.Client(t, localtest.ControlPlane(t))
	if git := a.Spec.Source.Git; git != nil && git.Repo == "" {
		git.Repo = "a/b"
	}
	if err := c.Create(t.Context(), a, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		return err
	}
	if err := c.Delete(context.WithoutCancel(t.Context()), a); err != nil {
		t.Fatalf("delete %s: %v", a.Name, err)
	}
	return nil
}

func TestLinesOfAllProblemsAreTold(t *testing.T) {
	_, err := definition.Parse("addons/web.yaml", []byte(`---
# a comment
name: Web
helm:
  repo: git://example.com
  chart: web
  version: 1.10
  branch: main
autoSync: true
prune: "yes"
dependsOn:
- name: other
- nam: another
`))
	want := `addons/web.yaml:7: helm.version must be text: put it in quotes
addons/web.yaml:8: unknown field "helm.branch"
addons/web.yaml:9: unknown field "autoSync"
addons/web.yaml:10: prune must be true or false
addons/web.yaml:13: unknown field "dependsOn[1].nam"`
	if err == nil {
		t.Fatal("it is taken")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("the error is another (- wanted, + got):\n%s", diff)
	}
}
