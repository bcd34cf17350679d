package plan_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

func TestOwners(t *testing.T) {
	tests := map[string]struct {
		marks   string // of the live object
		owner   string
		tool    bool // adopt lets us take it over
		blocked bool
	}{
		"of another add-on": {
			marks: `{"labels":{"rendimiento.ai/addon":"other"}}`, owner: "the add-on other", blocked: true,
		},
		"of Helm": {
			marks: `{"annotations":{"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"prod"}}`,
			owner: "the Helm release prod/web", tool: true, blocked: true,
		},
		"of Argo CD": {
			marks: `{"annotations":{"argocd.argoproj.io/tracking-id":"web:/ConfigMap:prod/settings"}}`,
			owner: "the Argo CD application web", tool: true, blocked: true,
		},
		"of a Flux Kustomization": {
			marks: `{"labels":{"kustomize.toolkit.fluxcd.io/name":"web","kustomize.toolkit.fluxcd.io/namespace":"prod"}}`,
			owner: "the Flux Kustomization prod/web", tool: true, blocked: true,
		},
		"of a Flux HelmRelease": {
			marks: `{"labels":{"helm.toolkit.fluxcd.io/name":"web","helm.toolkit.fluxcd.io/namespace":"prod"}}`,
			owner: "the Flux HelmRelease prod/web", tool: true, blocked: true,
		},
		"of nobody, with labels that any chart sets": {
			marks: `{"labels":{"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/instance":"web"}}`,
		},
		"ours since long, and once Helm's": {
			marks: `{"labels":{"rendimiento.ai/addon":"shop"},"annotations":{"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"prod"}}`,
			owner: "the Helm release prod/web",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			o := c.object(configMap)
			c.applyAs("another", o.Unstructured)
			c.patch(o.Unstructured, `{"metadata":`+test.marks+`}`)
			for adopt, blocked := range map[bool]bool{false: test.blocked, true: test.blocked && !test.tool} {
				r := c.rendered(configMap)
				r.Adopt = adopt
				i := c.only(r)
				if i.Action != plan.Unchanged || i.Diff != "" {
					t.Errorf("the marks are a change: %+v", i)
				}
				if i.Owner != test.owner || (i.Blocked != "") != blocked {
					t.Errorf("with adopt %v, it is %q's, blocked %q; want %q, blocked %v", adopt, i.Owner, i.Blocked, test.owner, blocked)
				}
			}
		})
	}
}

func TestAdoption(t *testing.T) {
	c := newCluster(t)
	o := c.object(configMap)
	c.applyAs("another", o.Unstructured)

	t.Run("an object that nobody marked is adopted", func(t *testing.T) {
		if i := c.only(c.rendered(configMap)); !i.Adopts || !i.Unmarked || i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("and what would change is said", func(t *testing.T) {
		i := c.only(c.rendered(strings.Replace(configMap, "blue", "red", 1)))
		if !i.Adopts || i.Action != plan.Update || strings.Contains(i.Diff, addons.LabelAddon) {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("one of the inventory is ours, though its label is gone", func(t *testing.T) {
		r := c.rendered(configMap)
		r.Previous = []plan.Owned{{ID: o.ID(), UID: c.uid(o.Unstructured)}}
		if i := c.only(r); i.Adopts || !i.Unmarked {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("one with our label is ours", func(t *testing.T) {
		c.patch(o.Unstructured, `{"metadata":{"labels":{"rendimiento.ai/addon":"shop"}}}`)
		if i := c.only(c.rendered(configMap)); i.Adopts || i.Unmarked {
			t.Errorf("it is planned as %+v", i)
		}
	})
}

func TestBeingDeleted(t *testing.T) {
	c := newCluster(t)
	r := c.rendered(configMap)
	c.apply(r)
	o := r.Set.Objects[0].Unstructured
	c.patch(o, `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.delete(o)
	if i := c.only(r); !strings.Contains(i.Blocked, "being deleted, and waits for example.com/wait") {
		t.Errorf("it is planned as %+v", i)
	}
	c.patch(o, `{"metadata":{"finalizers":null}}`)
}

// TestAdoptionMigratesFields has an object of another tool that has more than is
// rendered: it goes when the add-on takes the tool's fields over, and must be shown.
func TestAdoptionMigratesFields(t *testing.T) {
	const more = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: NS
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: NS}
spec:
  replicas: 2
  minReadySeconds: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "web:1", env: [{name: A, value: a}, {name: B, value: b}]}
`
	tests := map[string]struct {
		manager, text string
		action        plan.Action
		diff          []string
	}{
		"nothing but defaults and marks is more": {
			manager: "helm", action: plan.Unchanged,
			text: strings.NewReplacer("  minReadySeconds: 7\n", "", ", env: [{name: A, value: a}, {name: B, value: b}]", "").Replace(more),
		},
		"Helm has more":     {manager: "helm", text: more, action: plan.Update, diff: []string{"-  minReadySeconds: 7", "-        - name: B"}},
		"somebody has more": {manager: "somebody", text: more, action: plan.Unchanged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			o := c.object(test.text)
			if _, err := c.resource(o.Unstructured).Create(t.Context(), o.Unstructured, metav1.CreateOptions{FieldManager: test.manager}); err != nil {
				t.Fatal(err)
			}
			r := c.rendered(deployment)
			r.Adopt = true
			i := c.only(r)
			if i.Action != test.action || !i.Adopts || i.Blocked != "" {
				t.Errorf("it is planned as %+v", i)
			}
			for _, line := range test.diff {
				if !strings.Contains(i.Diff, line) {
					t.Errorf("the diff has no %q:\n%s", line, i.Diff)
				}
			}
		})
	}
}

// TestAdoptionOfWhatTheServerMade has objects with fields that the API server made up
// for their creator: they are no change, whether they can be let go or not.
func TestAdoptionOfWhatTheServerMade(t *testing.T) {
	tests := map[string]struct {
		text, more string
		migrates   bool
	}{
		"the address of a Service": {
			text: "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NS}\nspec: {type: NodePort, ports: [{port: 80}]}\n", migrates: true,
		},
		"the selector of a Job":                   {text: job, migrates: true},
		"the claims of a StatefulSet":             {text: statefulSet, migrates: true},
		"the finalizer of a claim":                {text: claim, migrates: true},
		"the policies of a StorageClass":          {text: storageClass, migrates: true},
		"the subjects of a RoleBinding":           {text: binding, migrates: true},
		"the tolerations of a Pod":                {text: pod, migrates: true},
		"a field more, which can never be let go": {text: configMap, more: "immutable: true\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(c.rendered(serviceAccount))
			o := c.object(test.text + test.more)
			if _, err := c.resource(o.Unstructured).Create(t.Context(), o.Unstructured, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
				t.Fatal(err)
			}
			if o.GetNamespace() == "" {
				t.Cleanup(func() { c.delete(o.Unstructured) })
			}
			if i := c.only(c.rendered(test.text)); i.Action != plan.Unchanged || !i.Adopts || i.Migrates != test.migrates {
				t.Errorf("it is planned as %+v", i)
			}
		})
	}
}
