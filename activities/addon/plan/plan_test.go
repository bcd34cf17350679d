package plan_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

const addon = "shop"

// cluster is a namespace of the real API server, and a planner on it.
type cluster struct {
	plan.Planner

	t  *testing.T
	ns string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	config := localtest.ControlPlane(t)
	config.QPS, config.Burst = 500, 500
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{
		t: t, ns: localtest.Namespace(t, localtest.Client(t, config), "plan"),
		Planner: plan.Planner{
			Client: client, Mapper: newMapper(t), Hash: keyed,
		},
	}
}

func keyed(text []byte) string {
	h := hmac.New(sha256.New, []byte("the key of the test"))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// object parses YAML, and puts it into the namespace of the test where it says NS.
func (c *cluster) object(text string) manifest.Object {
	c.t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", c.ns)), &content); err != nil {
		c.t.Fatal(err)
	}
	return manifest.Object{Unstructured: &unstructured.Unstructured{Object: content}}
}

// rendered are objects with the add-on's label.
func (c *cluster) rendered(texts ...string) plan.Request {
	c.t.Helper()
	r := plan.Request{Addon: addon}
	for _, text := range texts {
		o := c.object(text)
		mark(o.Unstructured, addon)
		r.Set.Objects = append(r.Set.Objects, o)
	}
	return r
}

func mark(o *unstructured.Unstructured, name string) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[addons.LabelAddon] = name
	o.SetLabels(labels)
}

// resource is where objects like o are.
func (c *cluster) resource(o *unstructured.Unstructured) dynamic.ResourceInterface {
	c.t.Helper()
	k := o.GroupVersionKind()
	mapping, err := c.Mapper.RESTMapping(k.GroupKind(), k.Version)
	if err != nil {
		c.t.Fatal(err)
	}
	if o.GetNamespace() == "" {
		return c.Client.Resource(mapping.Resource)
	}
	return c.Client.Resource(mapping.Resource).Namespace(o.GetNamespace())
}

// apply writes the objects of r as the add-on does.
func (c *cluster) apply(r plan.Request) {
	c.t.Helper()
	for _, o := range r.Set.Objects {
		c.applyAs(addons.FieldManager, o.Unstructured)
	}
}

func (c *cluster) applyAs(manager string, o *unstructured.Unstructured) {
	c.t.Helper()
	options := metav1.ApplyOptions{FieldManager: manager, Force: true}
	if _, err := c.resource(o).Apply(c.t.Context(), o.GetName(), o, options); err != nil {
		c.t.Fatal(err)
	}
	if o.GetNamespace() == "" && o.GetKind() != "Namespace" {
		c.t.Cleanup(func() { c.delete(o) })
	}
}

// delete removes o, and whatever keeps it from going.
func (c *cluster) delete(o *unstructured.Unstructured) {
	c.t.Helper()
	none := int64(0)
	err := c.resource(o).Delete(context.WithoutCancel(c.t.Context()), o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &none})
	if err != nil && !apierrors.IsNotFound(err) {
		c.t.Fatal(err)
	}
}

// patch changes o as somebody else.
func (c *cluster) patch(o *unstructured.Unstructured, json string, subresources ...string) {
	c.t.Helper()
	options := metav1.PatchOptions{FieldManager: "somebody"}
	if _, err := c.resource(o).Patch(c.t.Context(), o.GetName(), types.MergePatchType, []byte(json), options, subresources...); err != nil {
		c.t.Fatal(err)
	}
}

// update writes o as it is, as somebody else.
func (c *cluster) update(o *unstructured.Unstructured) {
	c.t.Helper()
	if _, err := c.resource(o).Update(c.t.Context(), o, metav1.UpdateOptions{FieldManager: "somebody"}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) live(o *unstructured.Unstructured) *unstructured.Unstructured {
	c.t.Helper()
	live, err := c.resource(o).Get(c.t.Context(), o.GetName(), metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return live
}

func (c *cluster) uid(o *unstructured.Unstructured) types.UID { return c.live(o).GetUID() }

// must plans r.
func (c *cluster) must(r plan.Request) *plan.Plan {
	c.t.Helper()
	p, err := c.Plan(c.t.Context(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// only plans r and gives its only item.
func (c *cluster) only(r plan.Request) plan.Item {
	c.t.Helper()
	p := c.must(r)
	if len(p.Items) != 1 {
		c.t.Fatalf("the plan has %d items, want 1: %+v", len(p.Items), p.Items)
	}
	return p.Items[0]
}

const (
	configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS}
data: {color: blue, size: small}
`
	deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: web:1}
`
)

func TestPlan(t *testing.T) {
	c := newCluster(t)

	t.Run("what is not there is created, and counted", func(t *testing.T) {
		p := c.must(c.rendered(configMap, deployment))
		want := plan.Counts{Create: 2}
		if p.Counts != want {
			t.Errorf("counts are %+v, want %+v", p.Counts, want)
		}
		if i := p.Items[0]; i.Action != plan.Create || i.UID != "" || i.Unverified != "" || i.Adopts || !strings.Contains(i.Diff, "+  color: blue") {
			t.Errorf("the ConfigMap is planned as %+v", i)
		}
	})

	r := c.rendered(configMap, deployment)
	c.apply(r)

	t.Run("what was applied is unchanged, whatever the API server added", func(t *testing.T) {
		p := c.must(r)
		want := plan.Counts{Unchanged: 2}
		if p.Counts != want {
			t.Errorf("counts are %+v, want %+v: %+v", p.Counts, want, p.Items)
		}
	})

	t.Run("a changed field is an update with a diff of it", func(t *testing.T) {
		i := c.only(c.rendered(strings.Replace(configMap, "blue", "red", 1)))
		if i.Action != plan.Update || !strings.Contains(i.Diff, "-  color: blue\n+  color: red\n") {
			t.Errorf("it is planned as %+v", i)
		}
		if live := c.live(r.Set.Objects[0].Unstructured); i.UID != live.GetUID() || i.ResourceVersion != live.GetResourceVersion() {
			t.Errorf("it was made from %s at %s, want %s at %s", i.UID, i.ResourceVersion, live.GetUID(), live.GetResourceVersion())
		}
	})

	t.Run("a field that is rendered no more goes", func(t *testing.T) {
		i := c.only(c.rendered(strings.Replace(configMap, ", size: small", "", 1)))
		if i.Action != plan.Update || !strings.Contains(i.Diff, "-  size: small\n") {
			t.Errorf("it is planned as %+v", i)
		}
	})

	t.Run("a plan is the same after it was stored", func(t *testing.T) {
		want := c.must(c.rendered(strings.Replace(configMap, "blue", "red", 1)))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(plan.Plan)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})

	t.Run("the cluster is not written to", func(t *testing.T) {
		before := c.live(r.Set.Objects[0].Unstructured).GetResourceVersion()
		c.must(c.rendered(strings.Replace(configMap, "blue", "red", 1)))
		if after := c.live(r.Set.Objects[0].Unstructured).GetResourceVersion(); after != before {
			t.Errorf("resourceVersion went from %s to %s", before, after)
		}
	})
}
