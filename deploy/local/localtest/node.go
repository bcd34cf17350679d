package localtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

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
	unlock, err := lockNodes(unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	e.onStop(func(context.Context) error { return unlock() })
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

// Alone waits until no other test program has a node, and keeps it so until the
// test ends: for tests that look at what a node leaves on the machine.
func Alone(t testing.TB) {
	t.Helper()
	unlock, err := lockNodes(unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	})
}

// lockNodes takes the lock that test programs with nodes share. It is on a
// directory that is always there, so that no lock file is left behind.
func lockNodes(how int) (unlock func() error, err error) {
	dir, err := os.Open(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("lock the nodes of tests: %w", err)
	}
	if err := unix.Flock(int(dir.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the nodes of tests: %w", err), dir.Close())
	}
	return dir.Close, nil
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
