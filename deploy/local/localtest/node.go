package localtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"example.com/fairlead/deploy/local"
	"example.com/fairlead/deploy/local/child"
	"example.com/fairlead/deploy/local/controlplane"
	"example.com/fairlead/deploy/local/node"
)

// Ports in the node's network, which nobody else uses.
const (
	nodeAPIPort  = 6443
	nodeEtcdPort = 2379
)

// Node gives a cluster with one node, on which pods run. It is not the cluster
// of ControlPlane. A test that needs it has the build tag node.
func Node(t testing.TB) *local.Cluster {
	t.Helper()
	bin := Dir(t)
	return shared.node.get(t, func() (*local.Cluster, error) { return shared.startNode(bin) })
}

func (e *environment) startNode(bin string) (*local.Cluster, error) {
	subnet, dir, err := e.reserveSubnet()
	if err != nil {
		return nil, err
	}
	group, err := child.NewGroup(dir)
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // outlives the test that happens to be first
	if err := group.EndLeftovers(ctx); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "etcd")); err != nil {
		return nil, fmt.Errorf("forget the objects of a killed test program: %w", err)
	}
	c, err := local.StartCluster(ctx, group, local.ClusterOptions{
		ControlPlane: controlplane.Options{Dir: dir, BinDir: bin, Port: nodeAPIPort, EtcdPort: nodeEtcdPort},
		Node:         &node.Options{Dir: dir, BinDir: bin, Subnet: subnet, SubnetFlag: "the subnet of localtest"},
	})
	e.onStop(func(ctx context.Context) error {
		return errors.Join(group.Stop(ctx), c.Close(context.WithoutCancel(ctx)), os.RemoveAll(dir))
	})
	return c, err
}

// reserveSubnet finds addresses that no other test program uses. Each has a fixed
// state directory: what a killed test program left is cleaned up by the next one.
func (e *environment) reserveSubnet() (subnet int, dir string, err error) {
	if e.dir == "" {
		return 0, "", errNoMain
	}
	for subnet := node.MaxSubnet; subnet > 0; subnet-- {
		// An abstract unix socket is a lock that ends with its process and leaves no file.
		mark, err := net.Listen("unix", fmt.Sprintf("@fairlead-test-subnet-%d", subnet))
		if err != nil {
			continue
		}
		e.onStop(func(context.Context) error { return mark.Close() })
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("fairlead-test-node-%d", subnet))
		return subnet, dir, os.MkdirAll(dir, 0o700)
	}
	return 0, "", errors.New("all subnets for nodes are used by other test programs")
}
