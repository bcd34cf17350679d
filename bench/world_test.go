package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	temporalclient "go.temporal.io/sdk/client"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/api/kube"
	"example.com/fairlead/deploy/local/localtest"
)

// world is a Kubernetes namespace and a Temporal namespace of one benchmark.
type world struct {
	tb       testing.TB
	ctx      context.Context
	rest     *rest.Config
	client   client.Client
	temporal temporalclient.Client
	// Where Temporal is, for programs.
	temporalAddress, temporalNamespace string
	// namespace of the objects.
	namespace string
	clusterID string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{tb: tb, ctx: tb.Context(), rest: localtest.ControlPlane(tb)}
	w.client = localtest.Client(tb, w.rest)
	w.temporalAddress, w.temporalNamespace = localtest.Temporal(tb)
	w.temporal = localtest.DialTemporal(tb, w.temporalAddress, w.temporalNamespace)
	var err error
	w.clusterID, err = kube.Identity(w.ctx, w.client)
	w.must("read the cluster's identity", err)
	w.namespace = w.newNamespace()
	return w
}

// forget removes the objects of a namespace, whatever keeps them: the next benchmark
// shares the API server.
func (w *world) forget(namespace string) {
	w.tb.Helper()
	w.ctx = context.WithoutCancel(w.ctx) // a cleanup
	var left crawl.ProxyList
	w.must("list Proxies", w.client.List(w.ctx, &left, client.InNamespace(namespace)))
	for i := range left.Items {
		p := &left.Items[i]
		if len(p.Finalizers) == 0 {
			continue
		}
		before := p.DeepCopy()
		p.Finalizers = nil
		w.must("take the finalizers off a Proxy", client.IgnoreNotFound(w.client.Patch(w.ctx, p, client.MergeFrom(before))))
	}
	w.must("delete the Proxies", w.client.DeleteAllOf(w.ctx, &crawl.Proxy{}, client.InNamespace(namespace)))
}

func (w *world) newNamespace() string {
	w.tb.Helper()
	namespace := localtest.Namespace(w.tb, w.client, "bench")
	w.tb.Cleanup(func() { w.forget(namespace) })
	return namespace
}

// must ends the benchmark: what could not be done was not measured.
func (w *world) must(doing string, err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("%s: %v", doing, err)
	}
}

// get reads p again.
func (w *world) get(p *crawl.Proxy) *crawl.Proxy {
	w.tb.Helper()
	var now crawl.Proxy
	w.must("read a Proxy", w.client.Get(w.ctx, client.ObjectKeyFromObject(p), &now))
	return &now
}

// providersFile writes a providers file with providers of type process, each with a
// state directory of its own, and returns the directories by name.
func (w *world) providersFile(names ...string) (path string, stateDirs map[string]string) {
	w.tb.Helper()
	dir := w.tb.TempDir()
	stateDirs = map[string]string{}
	file := struct {
		Providers []any `json:"providers"`
	}{}
	for _, name := range names {
		stateDirs[name] = filepath.Join(dir, name)
		file.Providers = append(file.Providers, map[string]any{
			"name": name, "type": "process", "process": map[string]any{"stateDir": stateDirs[name]},
		})
	}
	data, err := json.Marshal(file)
	w.must("write the providers file", err)
	path = filepath.Join(dir, "providers.yaml")
	w.must("write the providers file", os.WriteFile(path, data, 0o600))
	return path, stateDirs
}

func managed(namespace, name, provider string) *crawl.Proxy {
	return &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       crawl.ProxySpec{Mode: crawl.ModeManaged, Provider: provider},
	}
}

func external(namespace, name string, at netip.Addr, port int32) *crawl.Proxy {
	return &crawl.Proxy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       crawl.ProxySpec{Mode: crawl.ModeExternal, Endpoint: &crawl.Endpoint{Host: at.String(), Port: port}},
	}
}

func numbered(stem string, i int) string { return fmt.Sprintf("%s-%05d", stem, i) }
