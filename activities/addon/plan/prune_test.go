package plan_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
)

func TestPrune(t *testing.T) {
	tests := map[string]struct {
		text   string
		change func(c *cluster, r *plan.Request, o manifest.Object)
		action plan.Action // empty for no item
		note   string
	}{
		"what is rendered no more":    {action: plan.Prune},
		"nothing if prune is not set": {change: func(_ *cluster, r *plan.Request, _ manifest.Object) { r.Prune = false }, action: plan.Keep, note: "does not prune"},
		"nothing that is gone":        {change: func(c *cluster, _ *plan.Request, o manifest.Object) { c.delete(o.Unstructured) }},
		"nothing that was made again": {
			change: func(c *cluster, _ *plan.Request, o manifest.Object) {
				c.delete(o.Unstructured)
				c.apply(c.rendered(configMap))
			},
			action: plan.Keep, note: "made again by somebody else",
		},
		"nothing that another add-on took": {
			change: func(c *cluster, _ *plan.Request, o manifest.Object) {
				c.patch(o.Unstructured, `{"metadata":{"labels":{"rendimiento.ai/addon":"other"}}}`)
			},
			action: plan.Keep, note: "it is the add-on other's now",
		},
		"nothing that Helm's policy keeps": {
			change: func(c *cluster, _ *plan.Request, o manifest.Object) {
				c.patch(o.Unstructured, `{"metadata":{"annotations":{"helm.sh/resource-policy":"keep"}}}`)
			},
			action: plan.Keep, note: "helm.sh/resource-policy is keep",
		},
		"what has no UID in the inventory, and our label": {
			change: func(_ *cluster, r *plan.Request, _ manifest.Object) { r.Previous[0].UID = "" }, action: plan.Prune,
		},
		"nothing that has neither UID nor label": {
			change: func(c *cluster, r *plan.Request, o manifest.Object) {
				r.Previous[0].UID = ""
				c.patch(o.Unstructured, `{"metadata":{"labels":null}}`)
			},
			action: plan.Keep, note: "neither its UID nor its label",
		},
		"nothing whose kind is not served": {
			change: func(_ *cluster, r *plan.Request, _ manifest.Object) { r.Previous[0].ID.Group = "gone.example.com" },
			action: plan.Keep, note: "does not serve its kind",
		},
		"no claim":         {text: claim, action: plan.Keep, note: "a PersistentVolumeClaim is never pruned"},
		"no storage class": {text: storageClass, action: plan.Keep, note: "a StorageClass is never pruned"},
		"no definition":    {text: named("pruned", widgets), action: plan.Keep, note: "a CustomResourceDefinition is never pruned"},
		"no namespace": {
			text: "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS-own}\n", action: plan.Keep, note: "a Namespace is never pruned",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if test.text == "" {
				test.text = configMap
			}
			old := c.rendered(test.text)
			c.apply(old)
			o := old.Set.Objects[0]
			r := c.rendered(deployment)
			c.apply(r)
			r.Prune = true
			r.Previous = []plan.Owned{{ID: o.ID(), UID: c.uid(o.Unstructured)}}
			uid := r.Previous[0].UID
			if test.change != nil {
				test.change(c, &r, o)
			}
			p := c.must(r)
			if test.action == "" {
				if len(p.Items) != 1 {
					t.Errorf("it is planned: %+v", p.Items)
				}
				return
			}
			i := itemOf(t, p, o.GetName())
			if i.Action != test.action || !strings.Contains(i.Note, test.note) || (i.Action == plan.Prune) != (i.Diff != "") {
				t.Errorf("it is planned as %+v\nwant %s, %q", i, test.action, test.note)
			}
			if i.Action == plan.Prune && i.UID != uid {
				t.Errorf("the UID is %q, want %q", i.UID, uid)
			}
		})
	}
}

func TestPruneNothingOfAnEmptySet(t *testing.T) {
	c := newCluster(t)
	_, err := c.Plan(t.Context(), plan.Request{Addon: addon, Prune: true, Previous: []plan.Owned{{ID: c.object(configMap).ID(), UID: "u"}}})
	if !errors.Is(err, plan.ErrEmpty) {
		t.Errorf("the error is %v, want ErrEmpty", err)
	}
}

// An Event is one object under two API groups, as an Ingress was once.
func TestMovedAPIGroup(t *testing.T) {
	c := newCluster(t)
	old := c.rendered(`
apiVersion: v1
kind: Event
metadata: {name: moved, namespace: NS}
involvedObject: {namespace: NS, name: web}
reason: Test
type: Normal
`)
	c.apply(old)
	r := c.rendered(`
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: moved, namespace: NS}
reason: Test
type: Normal
`)
	r.Prune = true
	r.Previous = []plan.Owned{{ID: old.Set.Objects[0].ID(), UID: c.uid(old.Set.Objects[0].Unstructured)}}
	i := c.only(r)
	if i.ID.Group != "events.k8s.io" || i.Action == plan.Create || i.UID != r.Previous[0].UID {
		t.Errorf("it is planned as %+v", i)
	}
}
