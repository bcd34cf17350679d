package plan_test

import (
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// TestHash moves something between two plans: the hash tells whether the second would
// do something else.
func TestHash(t *testing.T) {
	const widened = `{"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}}}}`
	tests := map[string]struct {
		move func(c *cluster, r *plan.Request)
		same bool
	}{
		"nothing moved": {func(*cluster, *plan.Request) {}, true},
		"its status": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"status":{"observedGeneration":7,"replicas":1}}`, "status")
		}, true},
		"a label of somebody else's": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"metadata":{"labels":{"team":"a"}}}`)
		}, true},
		"a field that stays as it is": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"spec":{"paused":true}}`)
		}, true},
		"somebody wrote what is there already": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, widened)
		}, true},
		"an ignored field": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"spec":{"minReadySeconds":5}}`)
		}, true},
		"the rendered value of an ignored field": {func(c *cluster, r *plan.Request) {
			set(c, r, "minReadySeconds: 1", "minReadySeconds: 2")
		}, true},
		"the field that would be changed": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"spec":{"replicas":9}}`)
		}, false},
		"another field that would have to be put back": {func(c *cluster, r *plan.Request) {
			c.patch(r.Set.Objects[0].Unstructured, `{"spec":{"revisionHistoryLimit":1}}`)
		}, false},
		"it was synced": {func(_ *cluster, r *plan.Request) {
			r.After = "2026-01-02T03:04:05Z"
		}, false},
		"what is desired": {func(c *cluster, r *plan.Request) {
			set(c, r, "replicas: 3", "replicas: 4")
		}, false},
		"it was deleted and made again": {func(c *cluster, r *plan.Request) {
			c.delete(r.Set.Objects[0].Unstructured)
			c.apply(c.rendered(hashed))
		}, false},
		"it was deleted": {func(c *cluster, r *plan.Request) {
			c.delete(r.Set.Objects[0].Unstructured)
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(c.rendered(hashed))
			r := c.rendered(hashed)
			r.Ignore = []addons.IgnoredDifference{{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/minReadySeconds"}}}
			set(c, &r, "replicas: 2", "replicas: 3")
			first := c.must(r)
			if first.Counts != (plan.Counts{Update: 1}) {
				t.Fatalf("counts are %+v, want one update", first.Counts)
			}
			test.move(c, &r)
			if second := c.must(r); (second.Hash == first.Hash) != test.same {
				t.Errorf("the hash stays the same: %v, want %v\nbefore: %+v\nafter: %+v", second.Hash == first.Hash, test.same, first.Items, second.Items)
			}
		})
	}
}

// hashed is a Deployment whose fields the cases of TestHash move.
var hashed = strings.Replace(deployment, "replicas: 2", "replicas: 2\n  minReadySeconds: 1\n  revisionHistoryLimit: 3", 1)

// set changes what is rendered for the only object of r.
func set(c *cluster, r *plan.Request, from, to string) {
	text := hashed
	if strings.HasPrefix(from, "replicas: 3") || strings.HasPrefix(from, "minReady") {
		text = strings.Replace(text, "replicas: 2", "replicas: 3", 1)
	}
	if !strings.Contains(text, from) {
		c.t.Fatalf("%q is not rendered", from)
	}
	r.Set = c.rendered(strings.Replace(text, from, to, 1)).Set
}

func TestHashOfCreate(t *testing.T) {
	c := newCluster(t)
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NS}\nspec: {ports: [{port: 80}]}\n"
	first, second := c.must(c.rendered(service)), c.must(c.rendered(service))
	if first.Hash != second.Hash {
		t.Error("what the API server would draw, an address, is in the hash")
	}
	if other := c.must(c.rendered(strings.Replace(service, "80", "81", 1))); other.Hash == first.Hash {
		t.Error("the desired port is not in the hash")
	}
}

func TestHashOfPlan(t *testing.T) {
	c := newCluster(t)
	there, back := c.must(c.rendered(configMap, deployment)), c.must(c.rendered(deployment, configMap))
	if there.Hash != back.Hash {
		t.Error("the order of rendering is in the hash")
	}
	if one := c.must(c.rendered(configMap)); one.Hash == there.Hash {
		t.Error("the Deployment is not in the hash")
	}
}
