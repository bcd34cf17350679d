package localtest

import (
	"context"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
)

// controlPlane is the shared API server.
type controlPlane struct {
	*controlplane.ControlPlane
	controllers    sync.Once
	controllersErr error
}

// ControlPlane gives an administrator's access to an API server that knows
// Fairlead's kinds. There is no node and, unless Controllers is called, nothing
// that ends the deletion of a namespace.
func ControlPlane(t testing.TB) *rest.Config {
	t.Helper()
	return rest.CopyConfig(shared.startControlPlane(t).Config)
}

// Controllers makes the shared control plane finish deletions of namespaces and
// of owned objects.
func Controllers(t testing.TB) {
	t.Helper()
	bin := Dir(t)
	c := shared.startControlPlane(t)
	c.controllers.Do(func() {
		if c.controllersErr = controlplane.CheckPrograms(bin, controlplane.ControllerPrograms()...); c.controllersErr == nil {
			c.controllersErr = c.StartControllers(controlplane.EssentialControllers()...)
		}
	})
	if c.controllersErr != nil {
		t.Fatalf("start the Kubernetes controllers: %v", c.controllersErr)
	}
}

func (e *environment) startControlPlane(t testing.TB) *controlPlane {
	t.Helper()
	bin := Dir(t)
	return e.controlPlane.get(t, func() (*controlPlane, error) {
		if err := controlplane.CheckPrograms(bin, controlplane.Programs()...); err != nil {
			return nil, err
		}
		free, err := ports.Reserve(2)
		if err != nil {
			return nil, err
		}
		group, dir, err := e.newGroup("control-plane")
		if err != nil {
			return nil, err
		}
		ctx := context.Background() // outlives the test that happens to be first
		c, err := controlplane.Start(ctx, group, controlplane.Options{
			Dir: dir, BinDir: bin, Port: free.Ports[0], EtcdPort: free.Ports[1],
		})
		if err != nil {
			return nil, err
		}
		return &controlPlane{ControlPlane: c}, controlplane.Apply(ctx, c.Config, deploy.Files, "crds/*.yaml")
	})
}
