package worker_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	temporalclient "go.temporal.io/sdk/client"

	"example.com/fairlead/activities/addon"
	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/activities/addon/kept"
	"example.com/fairlead/activities/addon/look"
	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/setstore"
	"example.com/fairlead/activities/addon/source"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/starter"
	"example.com/fairlead/temporal/wire"
	"example.com/fairlead/worker"
)

// addonWorld is the whole engine of add-ons over a real API server and a real Temporal, with
// a source that the test writes.
type addonWorld struct {
	t         *testing.T
	live      client.WithWatch
	temporal  temporalclient.Client
	signaller *starter.Signaller
	system    string
	source    *texts
	options   worker.AddonOptions
	// before is asked about each request that an add-on's identity makes.
	before func(*http.Request)
}

func newAddonWorld(t *testing.T) *addonWorld {
	t.Helper()
	w := &addonWorld{t: t, source: &texts{of: map[string]string{}}, before: func(*http.Request) {}}
	config := localtest.ControlPlane(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	w.live, w.temporal = localtest.Client(t, config), localtest.TemporalClient(t)
	w.signaller = &starter.Signaller{Temporal: w.temporal}
	w.system = localtest.Namespace(t, w.live, "system")
	sets, err := setstore.Open(t.Context(), setstore.Options{Client: w.live, Namespace: w.system, Clock: clock.RealClock{}, Random: rand.Reader})
	w.must(err)
	watched := rest.CopyConfig(config)
	watched.Wrap(func(next http.RoundTripper) http.RoundTripper { return &ahead{next, w} })
	there, err := cluster.Open(watched, "")
	w.must(err)
	store := kept.Store{Store: sets}
	looker := &look.Looker{Sources: w.source, Cluster: there, Store: store, Now: time.Now}
	w.options = worker.AddonOptions{
		Activities: addon.Activities{Client: w.live, Look: looker, Store: store, System: w.system, Log: localtest.Quiet(), Now: time.Now},
		Sweep:      &addon.Sweep{Client: w.live, Look: looker, Workflows: w.signaller, Parallel: 2, Log: localtest.Quiet()},
	}
	return w
}

// ahead lets the test come between the engine and the API server.
type ahead struct {
	http.RoundTripper

	w *addonWorld
}

func (a *ahead) RoundTrip(r *http.Request) (*http.Response, error) {
	a.w.before(r)
	return a.RoundTripper.RoundTrip(r)
}

// run runs a worker until the test ends.
func (w *addonWorld) run() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, worker.Options{Temporal: w.temporal, Kubernetes: w.live, Addons: &w.options, Log: localtest.Quiet()})
	}()
	w.t.Cleanup(func() {
		cancel()
		w.must(<-ended)
	})
}

// create makes an add-on with a namespace of its own, which has its name.
func (w *addonWorld) create(text string, change ...func(*addons.Addon)) *addons.Addon {
	w.t.Helper()
	o := &addons.Addon{ObjectMeta: metav1.ObjectMeta{Name: localtest.Namespace(w.t, w.live, "addon")}}
	o.Spec.Namespace = o.Name
	o.Spec.Source.Git = &addons.GitSource{Repo: "https://git.test/shop", Path: "shop"}
	for _, f := range change {
		f(o)
	}
	w.source.set(o.Name, text)
	w.must(w.live.Create(w.t.Context(), o))
	w.wake(o)
	return o
}

func (w *addonWorld) wake(o *addons.Addon) {
	w.t.Helper()
	w.must(w.signaller.AddonChanged(w.t.Context(), addonRef(o)))
}

func addonRef(o *addons.Addon) wire.AddonRef { return wire.AddonRef{Name: o.Name, UID: string(o.UID)} }

// patch changes an add-on as a person does, and wakes its workflow as the starter does.
func (w *addonWorld) patch(o *addons.Addon, json string) {
	w.t.Helper()
	w.must(w.live.Patch(w.t.Context(), o, merge(json), client.FieldOwner("somebody")))
	w.wake(o)
}

func merge(json string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(json))
}

// sees waits until the add-on is so, and returns it. It watches: many wait at the same time.
func (w *addonWorld) sees(o *addons.Addon, what string, so func(*addons.Addon) bool) *addons.Addon {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	changes, err := w.live.Watch(ctx, &addons.AddonList{}, client.MatchingFields{"metadata.name": o.Name})
	w.must(err)
	defer changes.Stop()
	var now *addons.Addon
	for event := range changes.ResultChan() {
		if is, ok := event.Object.(*addons.Addon); ok {
			if now = is; so(now) {
				return now
			}
		}
	}
	w.t.Errorf("%s: never so: %s; last seen: %+v", o.Name, what, now)
	runtime.Goexit()
	return nil
}

// configMap of the namespace that has the add-on's name.
func (w *addonWorld) configMap(o *addons.Addon, name string) *corev1.ConfigMap {
	w.t.Helper()
	out := &corev1.ConfigMap{}
	w.must(client.IgnoreNotFound(w.live.Get(w.t.Context(), client.ObjectKey{Namespace: o.Name, Name: name}, out)))
	return out
}

func (w *addonWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// texts are the sources of add-ons, by name. NS stands for the add-on's namespace.
type texts struct {
	mu sync.Mutex
	of map[string]string
}

func (s *texts) set(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[name] = text
}

func (s *texts) get(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[name]
}

func (*texts) Secrets(context.Context, *addons.Addon) ([][]byte, error) { return nil, nil }

func (s *texts) Render(_ context.Context, o *addons.Addon, known ...kept.Render) (source.Rendered, error) {
	text := strings.ReplaceAll(s.get(o.Name), "NS", o.Spec.Namespace)
	sum := sha256.Sum256([]byte(text))
	out := source.Rendered{Known: -1}
	out.Content, out.Revision = hex.EncodeToString(sum[:8]), "shop-1.0.0"
	for i, k := range known {
		if k.Content == out.Content {
			out.Render, out.Known = k, i
			return out, nil
		}
	}
	objects, err := manifest.Parse("shop/all.yaml", []byte(text))
	for i := range objects {
		objects[i].SetLabels(map[string]string{addons.LabelAddon: o.Name})
		objects[i].CRD = manifest.IsDefinition(objects[i].GroupVersionKind().GroupKind())
	}
	out.Set.Objects = objects
	return out, err
}

// colored is a ConfigMap with one value.
func colored(name, color string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: NS}\ndata: {color: " + color + "}\n---\n"
}
