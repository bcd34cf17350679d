package addon_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// canary is in Secrets and values, and must be nowhere else.
const canary = "c4nary-in-a-cage"

// world is an add-on on the real API server, whose source is texts.
type world struct {
	*addon.Activities

	t      *testing.T
	admin  client.Client
	ns     string
	ref    wire.AddonRef
	source *texts
	// writes counts the requests that keep something.
	writes *atomic.Int64
}

func newWorld(t *testing.T, spec addons.AddonSpec, rendered ...string) *world {
	t.Helper()
	w := &world{t: t, writes: &atomic.Int64{}}
	config := localtest.ControlPlane(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	w.admin = localtest.Client(t, config)
	w.ns = localtest.Namespace(t, w.admin, "sync")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next, w.writes} })
	component := localtest.Client(t, config)
	sets, err := setstore.Open(t.Context(), setstore.Options{Client: component, Namespace: w.ns, Clock: clock.RealClock{}, Random: rand.Reader})
	w.must(err)
	there, err := cluster.Open(config, "")
	w.must(err)
	w.source = &texts{ns: w.ns, all: rendered}
	store := kept.Store{Store: sets}
	w.Activities = &addon.Activities{
		Client: component, Store: store, System: w.ns, Now: time.Now,
		Look: &look.Looker{Sources: w.source, Cluster: there, Store: store, Now: time.Now},
	}
	if spec.Namespace == "" {
		spec.Namespace = w.ns
	}
	spec.Source = addons.AddonSource{Git: &addons.GitSource{Repo: "https://git.test/shop", Path: "shop"}}
	o := &addons.Addon{Spec: spec}
	o.Name = w.ns // cluster-scoped, and this test's own
	o.Finalizers = []string{addons.Finalizer}
	w.must(w.admin.Create(t.Context(), o))
	w.ref = wire.AddonRef{Name: o.Name, UID: string(o.UID)}
	w.source.addon = o.Name
	t.Cleanup(func() { w.release() })
	return w
}

func (w *world) release() {
	ctx := context.WithoutCancel(w.t.Context())
	o := &addons.Addon{}
	if w.admin.Get(ctx, types.NamespacedName{Name: w.ref.Name}, o) == nil {
		_ = w.admin.Delete(ctx, o)
		_ = w.admin.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
}

// counter counts writes that are no dry runs.
type counter struct {
	http.RoundTripper

	writes *atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.URL.Query().Get("dryRun") == "" {
		c.writes.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// texts are a source. NS stands for the namespace of the test.
type texts struct {
	addon, ns string
	all       []string
	secrets   [][]byte
	partial   string
}

func (s *texts) Secrets(context.Context, *addons.Addon) ([][]byte, error) { return s.secrets, nil }

func (s *texts) Render(_ context.Context, _ *addons.Addon, known ...kept.Render) (source.Rendered, error) {
	sum := sha256.Sum256([]byte(strings.Join(s.all, "\n---\n")))
	out := source.Rendered{Secrets: s.secrets, Partial: s.partial, Known: -1}
	out.Content, out.Revision = hex.EncodeToString(sum[:8]), "shop-1.0.0"
	for i, k := range known {
		if k.Content == out.Content {
			out.Render, out.Known = k, i
			return out, nil
		}
	}
	for _, text := range s.all {
		objects, err := manifest.Parse("shop/templates/all.yaml", []byte(strings.ReplaceAll(text, "NS", s.ns)))
		if err != nil {
			return source.Rendered{}, err
		}
		for _, o := range objects {
			s.add(&out.Set, o)
		}
	}
	return out, nil
}

func (s *texts) add(set *manifest.Set, o manifest.Object) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[addons.LabelAddon] = s.addon
	o.SetLabels(labels)
	event := o.GetAnnotations()["helm.sh/hook"]
	if event == "" {
		o.CRD = manifest.IsDefinition(o.GroupVersionKind().GroupKind())
		set.Objects = append(set.Objects, o)
		return
	}
	h := manifest.Hook{Object: o, DeletePolicies: []manifest.DeletePolicy{manifest.BeforeHookCreation, manifest.HookSucceeded}}
	for _, e := range strings.Split(event, ",") {
		h.Events = append(h.Events, manifest.Event(e))
	}
	h.LogPolicies = []manifest.LogPolicy{manifest.LogFailed}
	set.Hooks = append(set.Hooks, h)
}

// object reads the add-on.
func (w *world) object() *addons.Addon {
	w.t.Helper()
	o := &addons.Addon{}
	w.must(w.admin.Get(w.t.Context(), types.NamespacedName{Name: w.ref.Name}, o))
	return o
}

// status changes the status, as the workflow does.
func (w *world) status(change func(*addons.AddonStatus)) {
	w.t.Helper()
	o := w.object()
	if o.Status.Sets == nil {
		o.Status.Sets = &addons.Sets{}
	}
	change(&o.Status)
	w.must(w.admin.Status().Update(w.t.Context(), o))
}

// spec changes the spec.
func (w *world) spec(change func(*addons.AddonSpec)) {
	w.t.Helper()
	o := w.object()
	change(&o.Spec)
	w.must(w.admin.Update(w.t.Context(), o))
}

func (w *world) preview() wire.AddonPreview {
	w.t.Helper()
	p, err := w.Preview(w.t.Context(), wire.AddonPreviewInput{Addon: w.ref, Generation: w.object().Generation})
	w.must(err)
	w.quiet(p)
	return p
}

// begin publishes that p is about to be applied.
func (w *world) begin(p wire.AddonPreview) {
	w.t.Helper()
	w.status(func(s *addons.AddonStatus) {
		s.Sets.Plan, s.Sets.Inventory = p.Plan, p.Inventory
		s.Sync = &addons.SyncProgress{ID: "1", Lifecycle: p.Lifecycle, Hash: p.Hash}
	})
}

func (w *world) apply(p wire.AddonPreview, part string) wire.AddonApplied {
	w.t.Helper()
	done, err := w.Apply(w.t.Context(), wire.AddonApplyInput{Addon: w.ref, Plan: p.Plan, Part: part})
	w.must(err)
	w.quiet(done)
	return done
}

// end publishes that p is applied.
func (w *world) end(p wire.AddonPreview, done wire.AddonApplied) {
	w.t.Helper()
	if done.Moved != "" || done.Failed != "" || done.Inventory == "" {
		w.t.Fatalf("the sync ended with %+v", done)
	}
	w.status(func(s *addons.AddonStatus) {
		*s.Sets = addons.Sets{Render: p.Render, Inventory: done.Inventory}
		s.Sync, s.Adopted, s.AppliedHash = nil, true, p.Hash
	})
}

// synced does a whole sync without hooks.
func (w *world) synced() (wire.AddonPreview, wire.AddonApplied) {
	w.t.Helper()
	p := w.preview()
	w.begin(p)
	done := w.apply(p, wire.PartAll)
	w.end(p, done)
	return p, done
}

// quiet fails the test if the canary is in v.
func (w *world) quiet(v any) {
	w.t.Helper()
	text, err := json.Marshal(v)
	w.must(err)
	if strings.Contains(string(text), canary) {
		w.t.Errorf("it tells a secret: %s", text)
	}
}

// live is the object of text, nil if there is none.
func (w *world) live(text string) *unstructured.Unstructured {
	w.t.Helper()
	objects, err := manifest.Parse("test.yaml", []byte(strings.ReplaceAll(text, "NS", w.ns)))
	w.must(err)
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(objects[0].GroupVersionKind())
	err = w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(objects[0]), o)
	w.must(client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return o
}

// make creates the object of text as somebody else.
func (w *world) make(text string) {
	w.t.Helper()
	objects, err := manifest.Parse("test.yaml", []byte(strings.ReplaceAll(text, "NS", w.ns)))
	w.must(err)
	w.must(w.admin.Create(w.t.Context(), objects[0].Unstructured, client.FieldOwner("somebody")))
}

// patch changes the object of text as somebody else.
func (w *world) patch(text, json string) {
	w.t.Helper()
	w.must(w.admin.Patch(w.t.Context(), w.live(text), client.RawPatch(types.MergePatchType, []byte(json)), client.FieldOwner("somebody")))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// configMap with one value.
func configMap(name, value string) string {
	return `
apiVersion: v1
kind: ConfigMap
metadata: {name: ` + name + `, namespace: NS}
data: {color: ` + value + `}
`
}
