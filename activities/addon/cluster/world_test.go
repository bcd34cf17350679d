package cluster_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/fairlead/activities/addon/cluster"
	"example.com/fairlead/deploy/local/localtest"
)

func TestMain(m *testing.M) { os.Exit(localtest.Main(m)) }

// world is the real API server, and a Cluster whose clock stands unless the test moves it.
type world struct {
	*cluster.Cluster

	t      *testing.T
	config *rest.Config
	admin  client.Client
	// asked counts the requests for the list of all kinds.
	asked atomic.Int64
	now   atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, config: localtest.ControlPlane(t)}
	w.admin = localtest.Client(t, w.config)
	counted := rest.CopyConfig(w.config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next, &w.asked} })
	var err error
	w.Cluster, err = cluster.Open(counted, "")
	w.must(err)
	start := time.Now()
	w.SetClock(func() time.Time { return start.Add(time.Duration(w.now.Load())) })
	return w
}

func (w *world) forward(d time.Duration) { w.now.Add(int64(d)) }

type counter struct {
	http.RoundTripper

	asked *atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/apis" {
		c.asked.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// make creates what text says, until the test ends.
func (w *world) make(text string) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(text), o))
	w.must(w.admin.Create(w.t.Context(), o))
	w.t.Cleanup(func() {
		if err := client.IgnoreNotFound(w.admin.Delete(context.WithoutCancel(w.t.Context()), o)); err != nil {
			w.t.Error(err)
		}
	})
	return o
}

// define makes a kind, and waits until it is served.
func (w *world) define(kind string) {
	w.t.Helper()
	plural := strings.ToLower(kind) + "s"
	w.make(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.cluster.example.com}
spec:
  group: cluster.example.com
  scope: Cluster
  names: {plural: ` + plural + `, kind: ` + kind + `}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
