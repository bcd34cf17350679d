package plan_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/deploy/local/localtest"
)

// eventually polls until done, and fails the test if that takes too long.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it did not come to pass within 20 s")
		}
	}
}

// eventuallyPlanned plans r until the item of name is unverified: the API server takes
// a moment to know a webhook.
func eventuallyPlanned(c *cluster, r plan.Request, name string) (p *plan.Plan) {
	c.t.Helper()
	eventually(c.t, func() bool {
		p = c.must(r)
		return itemOf(c.t, p, name).Unverified != ""
	})
	return p
}

func itemOf(t *testing.T, p *plan.Plan, name string) plan.Item {
	t.Helper()
	for _, i := range p.Items {
		if i.ID.Name == name {
			return i
		}
	}
	t.Fatalf("the plan has no item for %s: %+v", name, p.Items)
	return plan.Item{}
}

func newMapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	apis, err := discovery.NewDiscoveryClientForConfig(localtest.ControlPlane(t))
	if err != nil {
		t.Fatal(err)
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(apis))
}

// newStaleMapper knows the APIs of now, and never others.
func newStaleMapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	apis, err := discovery.NewDiscoveryClientForConfig(localtest.ControlPlane(t))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(apis)
	if err != nil {
		t.Fatal(err)
	}
	return restmapper.NewDiscoveryRESTMapper(groups)
}
