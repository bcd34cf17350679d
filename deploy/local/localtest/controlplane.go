package localtest

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/ports"
)

// ControlPlane gives an administrator's access to an API server that knows
// Fairlead's kinds. There is no node, and nothing that ends the deletion of a
// namespace.
func ControlPlane(t testing.TB) *rest.Config {
	t.Helper()
	return rest.CopyConfig(shared.startControlPlane(t).Config)
}

func (e *environment) startControlPlane(t testing.TB) *controlplane.ControlPlane {
	t.Helper()
	bin := Dir(t)
	return e.controlPlane.get(t, func() (*controlplane.ControlPlane, error) {
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
		return c, controlplane.Apply(ctx, c.Config, deploy.Files, "crds/*.yaml")
	})
}
