package plan_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/fairlead/activities/addon/plan"
)

// widgets defines a kind of the test's own.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: KINDs.plan.example.com}
spec:
  group: plan.example.com
  scope: Namespaced
  names: {kind: KIND, plural: KINDs, singular: KIND}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string}
              shape:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: the shape is immutable}]
`

const widget = `
apiVersion: plan.example.com/v1
kind: KIND
metadata: {name: one, namespace: NS}
spec: {size: small, shape: round}
`

func named(kind, text string) string { return strings.ReplaceAll(text, "KIND", kind) }

// established applies a definition, and waits until its kind is served.
func (c *cluster) established(definition string) {
	c.t.Helper()
	r := c.rendered(definition)
	c.apply(r)
	eventually(c.t, func() bool {
		conditions, _, _ := unstructured.NestedSlice(c.live(r.Set.Objects[0].Unstructured).Object, "status", "conditions")
		for _, condition := range conditions {
			if m := condition.(map[string]any); m["type"] == "Established" && m["status"] == "True" {
				return true
			}
		}
		return false
	})
	c.Mapper = newMapper(c.t)
}

func TestUnverified(t *testing.T) {
	tests := map[string]struct {
		before, set []string
		object      string // whose item is looked at
		reason      string
	}{
		"the namespace comes in the same plan": {
			set: []string{
				"apiVersion: v1\nkind: Namespace\nmetadata: {name: NS-later}\n",
				strings.Replace(configMap, "NS", "NS-later", 1),
			},
			object: "settings", reason: "Namespace NS-later comes in the same plan",
		},
		"its definition comes in the same plan": {
			set:    []string{named("early", widget), named("early", widgets)},
			object: "one", reason: "CustomResourceDefinition.apiextensions.k8s.io earlys.plan.example.com comes in the same plan",
		},
		"the class that it refers to comes in the same plan": {
			set: []string{
				"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: runner, namespace: NS}\n",
				"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: NS}\nspec: {serviceAccountName: runner, containers: [{name: a, image: b}]}\n",
			},
			object: "web", reason: "ServiceAccount NS/runner comes in the same plan",
		},
		"a webhook does not answer": {
			before: []string{webhook},
			set:    []string{strings.Replace(configMap, "settings", "hooked", 1)},
			object: "hooked", reason: "an admission webhook cannot be asked",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(c.rendered(test.before...))
			p := eventuallyPlanned(c, c.rendered(test.set...), test.object)
			i := itemOf(t, p, test.object)
			want := strings.ReplaceAll(test.reason, "NS", c.ns)
			if i.Action != plan.Create || !strings.Contains(i.Unverified, want) || i.Diff == "" {
				t.Errorf("it is planned as %+v\nwant a create that is unverified because %q", i, want)
			}
			if p.Counts.Unverified != 1 {
				t.Errorf("counts are %+v, want 1 unverified", p.Counts)
			}
		})
	}
}

func TestUnverifiedUpdate(t *testing.T) {
	c := newCluster(t)
	c.established(named("evolving", widgets))
	old := c.rendered(named("evolving", widget))
	c.apply(old)
	grown := strings.Replace(named("evolving", widgets), "size: {type: string}", "size: {type: string}\n              color: {type: string}", 1)

	t.Run("a custom resource has a field of the next definition", func(t *testing.T) {
		r := c.rendered(grown, strings.Replace(named("evolving", widget), "small", "small, color: red", 1))
		i := itemOf(t, c.must(r), "one")
		if i.Action != plan.Update || !strings.Contains(i.Unverified, "evolvings.plan.example.com changes in the same plan") || !strings.Contains(i.Diff, "+  color: red") {
			t.Errorf("it is planned as %+v", i)
		}

		t.Run("and is the same once the definition is there", func(t *testing.T) {
			c.established(grown)
			var fresh plan.Item
			eventually(t, func() (done bool) {
				var err error
				fresh, _, err = c.Rechecks(r).Item(t.Context(), i)
				return err == nil && fresh.Unverified == ""
			})
			if fresh.Hash != i.Hash {
				t.Errorf("rechecked it is %+v\nwant the hash of %+v", fresh, i)
			}
		})
	})
}

func TestUnverifiedUnchanged(t *testing.T) {
	c := newCluster(t)
	text := strings.Replace(configMap, "settings", "hooked", 1)
	r := c.rendered(text)
	c.apply(r)
	c.apply(c.rendered(webhook))

	t.Run("what is there as rendered is not written again", func(t *testing.T) {
		if i := itemOf(t, eventuallyPlanned(c, r, "hooked"), "hooked"); i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("a field that is rendered no more goes", func(t *testing.T) {
		less := c.rendered(strings.Replace(text, ", size: small", "", 1))
		i := itemOf(t, eventuallyPlanned(c, less, "hooked"), "hooked")
		if i.Action != plan.Update || !strings.Contains(i.Diff, "-  size: small") {
			t.Errorf("it is planned as %+v", i)
		}
	})
}

// webhook is asked about ConfigMaps named hooked, and does not answer.
const webhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks:
- name: hooked.plan.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 1
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  matchConditions: [{name: ours, expression: 'object.metadata.name == "hooked"'}]
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}]
`

func TestObjectErrors(t *testing.T) {
	c := newCluster(t)
	r := c.rendered(
		configMap,
		strings.Replace(deployment, "image: web:1", "imagePullPolicy: Sometimes", 1),
		"apiVersion: nobody.example.com/v1\nkind: Thing\nmetadata: {name: lost, namespace: NS}\n",
		strings.Replace(configMap, "namespace: NS", "namespace: nowhere", 1),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: placed, namespace: NS}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: any-, namespace: NS}\n",
		configMap,
	)
	_, err := c.Plan(t.Context(), r)

	t.Run("all that cannot even be read are named", func(t *testing.T) {
		wantErrors(t, err, map[string]string{
			"lost": "does not serve its kind", "placed": "is cluster-scoped", "": "it has no name", "settings": "rendered twice",
		})
	})
	t.Run("all dry runs that fail are named", func(t *testing.T) {
		r.Set.Objects = r.Set.Objects[:2]
		r.Set.Objects = append(r.Set.Objects, c.rendered(strings.Replace(configMap, "namespace: NS", "namespace: nowhere", 1)).Set.Objects...)
		_, err := c.Plan(t.Context(), r)
		wantErrors(t, err, map[string]string{"web": "Unsupported value", "settings": `namespaces "nowhere" not found`})
	})
}

// A mapper that was made before the definition came would let one believe that no
// custom resource is there.
func TestStaleDiscovery(t *testing.T) {
	c := newCluster(t)
	stale := newStaleMapper(t)
	c.established(named("stale", widgets))
	c.apply(c.rendered(named("stale", widget)))
	p := c.Planner
	p.Mapper = stale
	_, err := p.Plan(t.Context(), c.rendered(named("stale", widgets), named("stale", widget)))
	wantErrors(t, err, map[string]string{"one": "look at the APIs again"})
}

func wantErrors(t *testing.T, err error, want map[string]string) {
	t.Helper()
	var errs plan.Errors
	if !errors.As(err, &errs) {
		t.Fatalf("the error is %v, want an Errors", err)
	}
	if len(errs) != len(want) {
		t.Errorf("there are %d errors, want %d: %v", len(errs), len(want), err)
	}
	for _, e := range errs {
		text, ok := want[e.ID.Name]
		if !ok || !strings.Contains(e.Error(), text) {
			t.Errorf("%q failed with %v, want %q", e.ID.Name, e.Err, text)
		}
	}
}
