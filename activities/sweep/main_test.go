package sweep

import (
	"context"
	"os"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/provider"
	"example.com/fairlead/activities/provider/process/forward/forwardtest"
	crawl "example.com/fairlead/api/crawl/v1alpha1"
	"example.com/fairlead/deploy/local/localtest"
	"example.com/fairlead/temporal/wire"
)

// asProxy is the argument that makes this test program a proxy.
const asProxy = "proxy"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asProxy {
		os.Exit(forwardtest.Main(os.Args[2:]))
	}
	os.Exit(localtest.Main(m))
}

// apiServer is a live client of the real API server, and a namespace.
func apiServer(t *testing.T) (live client.WithWatch, namespace string) {
	t.Helper()
	live = localtest.Client(t, localtest.ControlPlane(t))
	return live, localtest.Namespace(t, live, "sweep")
}

// within restricts lists of Proxies to one namespace, as if the cluster had no other.
type within struct {
	client.Reader
	namespace string
}

func (w within) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return w.Reader.List(ctx, list, append(options, client.InNamespace(w.namespace))...)
}

// calls are the Workflows of a test: they record who was told what.
type calls struct {
	mu      sync.Mutex
	told    []string
	open    map[string]bool // by name
	running map[string]bool // by id, as listed
	fail    error
}

func (c *calls) tell(what string, ref wire.ProxyRef) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail == nil {
		c.told = append(c.told, what+" "+ref.Name)
	}
	return c.fail
}

func (c *calls) Observed(_ context.Context, ref wire.ProxyRef) error { return c.tell("observed", ref) }
func (c *calls) Changed(_ context.Context, ref wire.ProxyRef) error  { return c.tell("changed", ref) }

func (c *calls) Running(_ context.Context, ref wire.ProxyRef) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[ref.Name], c.fail
}

func (c *calls) ListRunning(context.Context) (map[string]bool, error) { return c.running, nil }

// backend is a provider whose answers a test sets.
type backend struct {
	provider.Provider
	listing provider.Listing
	fail    error
	targets []provider.TargetStatus
	lists   int
}

func (b *backend) List(context.Context) (provider.Listing, error) {
	b.lists++
	return b.listing, b.fail
}

func (b *backend) Places(context.Context, string, *crawl.ProxySpec) ([]string, error) {
	return []string{"host-a"}, nil
}

func (b *backend) Check(context.Context) []provider.TargetStatus { return b.targets }
