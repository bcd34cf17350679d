package plan_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

const (
	autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 9
`
	injectedWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: NS
  annotations: {cert-manager.io/inject-ca-from: NS/cert}
webhooks:
- name: one.plan.example.com
  clientConfig: {url: "https://127.0.0.1:1/", caBundle: CA}
  admissionReviewVersions: [v1]
  sideEffects: None
  namespaceSelector: {matchLabels: {nobody: has}}
`
	clusterRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {nobody: has}}]}
rules: []
`
)

const apiService = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.drift.example.com, annotations: {cert-manager.io/inject-ca-from: NS/cert}}
spec: {group: drift.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, caBundle: Cg==, service: {name: none, namespace: NS}}
`

var converted = strings.Replace(strings.Replace(named("converted", widgets),
	"metadata: {", "metadata: {annotations: {cert-manager.io/inject-ca-from: NS/cert}, ", 1),
	"  scope: Namespaced", `  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/"}}`, 1)

// bundle is a certificate that somebody injects.
func bundle(t *testing.T) string {
	return base64.StdEncoding.EncodeToString(localtest.ControlPlane(t).CAData)
}

// TestNoDrift has what other programs write by arrangement into objects of an add-on.
func TestNoDrift(t *testing.T) {
	tests := map[string]struct {
		rendered, live []string
		patch          string
		unset          string // what is taken out of what is rendered
	}{
		"replicas that an autoscaler of the set decides": {
			rendered: []string{deployment, autoscaler}, patch: `{"spec":{"replicas":5}}`,
		},
		"replicas that an autoscaler of the cluster decides": {
			rendered: []string{deployment}, live: []string{autoscaler}, patch: `{"spec":{"replicas":5}}`,
		},
		"replicas that are not rendered": {
			rendered: []string{deployment}, unset: "replicas: 2", patch: `{"spec":{"replicas":5}}`,
		},
		"rules that are aggregated": {
			rendered: []string{clusterRole}, patch: `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
		},
		"rules that are aggregated, and not rendered": {
			rendered: []string{clusterRole}, unset: "rules: []", patch: `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
		},
		"the bundle of an APIService": {
			rendered: []string{apiService}, patch: `{"spec":{"caBundle":"CA"}}`,
		},
		"the bundle of a definition's conversion": {
			rendered: []string{converted}, patch: `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"CA"}}}}}`,
		},
		"the claims of a StatefulSet, with their defaults": {
			rendered: []string{statefulSet}, patch: `{"metadata":{"labels":{"team":"a"}}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for i := range test.rendered {
				test.rendered[i] = strings.Replace(test.rendered[i], test.unset, "", 1)
			}
			r := c.rendered(test.rendered...)
			c.apply(r)
			c.apply(c.rendered(test.live...))
			c.patch(r.Set.Objects[0].Unstructured, strings.ReplaceAll(test.patch, "CA", bundle(t)))
			if p := c.must(r); p.Counts.Changes() != 0 {
				t.Errorf("it is planned as %+v", p.Items)
			}
		})
	}
}

func TestDriftWithoutAutoscaler(t *testing.T) {
	c := newCluster(t)
	r := c.rendered(deployment)
	c.apply(r)
	c.patch(r.Set.Objects[0].Unstructured, `{"spec":{"replicas":5}}`)
	if i := c.only(r); i.Action != plan.Update {
		t.Errorf("it is planned as %+v", i)
	}
}

func TestInjectedBundle(t *testing.T) {
	c := newCluster(t)
	apply := func(text string) manifest.Object {
		o := c.object(text)
		mark(o.Unstructured, addon)
		c.applyAs(addons.FieldManager, o.Unstructured)
		return o
	}
	rendered := strings.Replace(injectedWebhook, ", caBundle: CA", "", 1)
	o := apply(rendered)
	live := c.live(o.Unstructured)
	hooks := live.Object["webhooks"].([]any)
	hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = bundle(t)
	c.update(live)

	t.Run("where none is rendered", func(t *testing.T) {
		if i := c.only(c.rendered(rendered)); i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("where another is rendered", func(t *testing.T) {
		r := c.rendered(strings.Replace(injectedWebhook, "CA", "Cg==", 1))
		if i := c.only(r); i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("but a change beside it is one", func(t *testing.T) {
		if i := c.only(c.rendered(strings.Replace(rendered, "nobody: has", "nobody: had", 1))); i.Action != plan.Update {
			t.Errorf("it is planned as %+v", i)
		}
	})
}

func TestIgnoredField(t *testing.T) {
	c := newCluster(t)
	r := c.rendered(configMap)
	c.apply(r)
	c.patch(r.Set.Objects[0].Unstructured, `{"data":{"color":"red"}}`)
	r.Ignore = []addons.IgnoredDifference{{Kind: "ConfigMap", Name: "settings", JSONPointers: []string{"/data/color"}}}

	t.Run("is no change", func(t *testing.T) {
		if i := c.only(r); i.Action != plan.Unchanged {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("keeps its live value when the rest is written", func(t *testing.T) {
		r.Set = c.rendered(strings.Replace(configMap, "small", "large", 1)).Set
		item := c.only(r)
		_, body, err := c.Rechecks(r).Item(t.Context(), item)
		if err != nil {
			t.Fatal(err)
		}
		c.applyAs(addons.FieldManager, body)
		data := c.live(body).Object["data"].(map[string]any)
		if data["color"] != "red" || data["size"] != "large" {
			t.Errorf("the data became %v", data)
		}
	})
	t.Run("of another object is a change", func(t *testing.T) {
		r := c.rendered(configMap)
		r.Ignore = []addons.IgnoredDifference{{Kind: "ConfigMap", Name: "others", JSONPointers: []string{"/data/color"}}}
		if i := c.only(r); i.Action != plan.Update {
			t.Errorf("it is planned as %+v", i)
		}
	})
	t.Run("that is rendered no more, and nobody but us applied, stays", func(t *testing.T) {
		c := newCluster(t)
		c.apply(c.rendered(configMap))
		r := c.rendered(strings.Replace(configMap, "color: blue, size: small", "size: large", 1))
		r.Ignore = []addons.IgnoredDifference{{Kind: "ConfigMap", JSONPointers: []string{"/data/color"}}}
		_, body, err := c.Rechecks(r).Item(t.Context(), c.only(r))
		if err != nil {
			t.Fatal(err)
		}
		c.applyAs(addons.FieldManager, body)
		if data := c.live(body).Object["data"].(map[string]any); data["color"] != "blue" || data["size"] != "large" {
			t.Errorf("the data became %v", data)
		}
	})
}
