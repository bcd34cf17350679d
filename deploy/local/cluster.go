package local

import (
	"context"

	"golang.org/x/sync/errgroup"

	"example.com/fairlead/deploy"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/node"
)

// ClusterOptions say what cluster to start.
type ClusterOptions struct {
	// ControlPlane's Prefix, Address and ServiceCIDR are the node's if there is one.
	ControlPlane controlplane.Options
	// Node is nil for a cluster without nodes.
	Node *node.Options
}

// Cluster is a running Kubernetes cluster that knows Fairlead's kinds.
type Cluster struct {
	*controlplane.ControlPlane
	// Node is nil in a cluster without nodes.
	Node *node.Node
}

// StartCluster runs a cluster as children of group. When it fails, the caller
// stops the group and then calls Close on the cluster, which is never nil.
func StartCluster(ctx context.Context, group *child.Group, o ClusterOptions) (*Cluster, error) {
	c := &Cluster{}
	if o.Node == nil {
		return c, c.start(ctx, group, o)
	}
	var err error
	if c.Node, err = node.Open(ctx, *o.Node); err != nil {
		return c, err
	}
	o.ControlPlane.Prefix = c.Node.Prefix()
	o.ControlPlane.Address = c.Node.Address()
	o.ControlPlane.ServiceCIDR = c.Node.ServiceCIDR()

	parts, partsCtx := errgroup.WithContext(ctx)
	parts.Go(func() error { return c.Node.StartRuntime(partsCtx, group) })
	parts.Go(func() error { return c.start(partsCtx, group, o) })
	if err := parts.Wait(); err != nil {
		return c, err
	}
	return c, c.Node.Join(ctx, group, c.ControlPlane)
}

// start runs the control plane and installs Fairlead's objects.
func (c *Cluster) start(ctx context.Context, group *child.Group, o ClusterOptions) error {
	var err error
	if c.ControlPlane, err = controlplane.Start(ctx, group, o.ControlPlane); err != nil {
		return err
	}
	if c.Node == nil {
		if err := c.StartControllers(controlplane.EssentialControllers()...); err != nil {
			return err
		}
	}
	return controlplane.Apply(ctx, c.Config, deploy.Files, manifests...)
}

// Close puts the machine back to what it was, after the group has stopped.
func (c *Cluster) Close(ctx context.Context) error {
	if c.Node == nil {
		return nil
	}
	return c.Node.Close(ctx)
}

// manifests of deploy.Files that every cluster gets.
var manifests = []string{"crds/*.yaml", "rbac/*.yaml"}
