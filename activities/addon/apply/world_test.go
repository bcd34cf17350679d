package apply_test

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/apply"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// world is a namespace of the real API server, and what an add-on is to have in it.
type world struct {
	*apply.Applier
	plan.Request

	t  *testing.T
	c  client.Client
	ns string
}

func newWorld(t *testing.T, texts ...string) *world {
	t.Helper()
	config := localtest.ControlPlane(t)
	config.QPS, config.Burst = 500, 500
	config.WarningHandler = rest.NoWarnings{}
	c := localtest.Client(t, config)
	w := &world{t: t, c: c, ns: localtest.Namespace(t, c, "apply")}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	w.must(err)
	all, err := dynamic.NewForConfig(config)
	w.must(err)
	w.Applier = &apply.Applier{Planner: plan.Planner{
		Client: all, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)),
		Hash: func(text []byte) string { return "hash of " + string(text) },
	}}
	w.Request = plan.Request{Addon: "shop", Prune: true}
	w.render(texts...)
	return w
}

// render has the source render something else. NS stands for the namespace.
func (w *world) render(texts ...string) {
	w.t.Helper()
	w.Set = manifest.Set{}
	for _, text := range texts {
		objects, err := manifest.Parse("test.yaml", []byte(strings.ReplaceAll(text, "NS", w.ns)))
		w.must(err)
		for _, o := range objects {
			labels := o.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels[addons.LabelAddon] = w.Addon
			o.SetLabels(labels)
			w.Set.Objects = append(w.Set.Objects, o)
		}
	}
}

func (w *world) plan() *plan.Plan {
	w.t.Helper()
	p, err := w.Plan(w.t.Context(), w.Request)
	w.must(err)
	return p
}

// sync does all of p, and keeps the inventory.
func (w *world) sync(p *plan.Plan) ([]apply.Done, error) {
	done, err := w.Apply(w.t.Context(), w.Request, p, w.Set.Objects)
	if err == nil {
		err = w.Applier.Prune(w.t.Context(), w.Request, p)
	}
	if err == nil {
		w.Previous = nil
		for _, d := range done {
			w.Previous = append(w.Previous, plan.Owned{ID: d.ID, UID: d.UID})
		}
	}
	return done, err
}

// synced plans and does it.
func (w *world) synced() []apply.Done {
	w.t.Helper()
	done, err := w.sync(w.plan())
	w.must(err)
	return done
}

// written are the names of those that were, in no order.
func written(done []apply.Done) map[string]bool {
	names := map[string]bool{}
	for _, d := range done {
		if d.Written {
			names[d.ID.Name] = true
		}
	}
	return names
}

// live is the object of text as it is, nil if there is none.
func (w *world) live(text string) *unstructured.Unstructured {
	w.t.Helper()
	objects, err := manifest.Parse("test.yaml", []byte(strings.ReplaceAll(text, "NS", w.ns)))
	w.must(err)
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(objects[0].GroupVersionKind())
	err = w.c.Get(w.t.Context(), client.ObjectKeyFromObject(objects[0]), o)
	w.must(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return o
}

// patch changes the object of text as somebody else.
func (w *world) patch(text, json string, status ...bool) {
	w.t.Helper()
	o, p := w.live(text), client.RawPatch(types.MergePatchType, []byte(json))
	if len(status) > 0 {
		w.must(w.c.Status().Patch(w.t.Context(), o, p, client.FieldOwner("somebody")))
		return
	}
	w.must(w.c.Patch(w.t.Context(), o, p, client.FieldOwner("somebody")))
}

func (w *world) delete(text string) {
	w.t.Helper()
	w.must(client.IgnoreNotFound(w.c.Delete(w.t.Context(), w.live(text))))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func value(o *unstructured.Unstructured, path ...string) any {
	if o == nil {
		return nil
	}
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

const (
	blue = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS}
data: {color: blue}
`
	green = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS}
data: {color: green}
`
	other = `
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: NS}
data: {a: b}
`
)
