package health_test

import (
	"context"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"example.com/fairlead/activities/addon/health"
	"example.com/fairlead/activities/addon/manifest"
	addons "example.com/fairlead/api/addons/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// world is a namespace of a real API server. There are no controllers: tests write statuses.
type world struct {
	client.Client

	t         *testing.T
	config    *rest.Config
	namespace string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	config := localtest.ControlPlane(t)
	config.QPS = -1
	c := localtest.Client(t, config)
	return &world{Client: c, t: t, config: config, namespace: localtest.Namespace(t, c, "health")}
}

// mapper knows what is served now.
func (w *world) mapper() meta.RESTMapper {
	w.t.Helper()
	h, err := rest.HTTPClientFor(w.config)
	w.must(err)
	m, err := apiutil.NewDynamicRESTMapper(w.config, h)
	w.must(err)
	return m
}

// make creates what text says, with the status in it.
func (w *world) make(text string) health.Owned {
	w.t.Helper()
	o := object(w.t, text)
	if o.GetNamespace() == "" {
		o.SetNamespace(w.namespace)
	}
	return w.create(o)
}

func (w *world) create(o *unstructured.Unstructured) health.Owned {
	w.t.Helper()
	status, ok := o.Object["status"]
	delete(o.Object, "status")
	w.must(w.Create(w.t.Context(), o))
	if ok {
		o.Object["status"] = status
		w.must(w.Status().Update(w.t.Context(), o))
	}
	return health.Owned{ID: manifest.Object{Unstructured: o}.ID(), UID: o.GetUID()}
}

func (w *world) remove(o health.Owned, apiVersion string) {
	w.t.Helper()
	live := &unstructured.Unstructured{}
	live.SetAPIVersion(apiVersion)
	live.SetKind(o.Kind)
	live.SetNamespace(o.Namespace)
	live.SetName(o.Name)
	w.must(w.Delete(w.t.Context(), live))
}

func (w *world) check(objects ...health.Owned) addons.Health {
	w.t.Helper()
	return w.checkAs(w.Client, w.mapper(), objects...)
}

func (w *world) checkAs(reader client.Reader, mapper meta.RESTMapper, objects ...health.Owned) addons.Health {
	w.t.Helper()
	h, err := health.Check(w.t.Context(), reader, mapper, objects)
	w.must(err)
	return h
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// client of the same API server, by a changed configuration.
func (w *world) client(change func(*rest.Config)) client.Client {
	w.t.Helper()
	config := rest.CopyConfig(w.config)
	change(config)
	c, err := client.New(config, client.Options{Mapper: w.mapper()})
	w.must(err)
	return c
}

// reader calls a function before each read.
type reader struct {
	client.Reader

	before func()
}

func (r reader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	r.before()
	return r.Reader.Get(ctx, key, o, options...)
}

const (
	settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
	balancer = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n"
	claim    = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	web      = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: example/none}]}
`
	oneOfTwo = "status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1}\n"
)
